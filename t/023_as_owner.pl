# The query of a list runs as the list's owner, and leaves nothing behind, whoever calls: the ways out
# that a superuser's refresh would open, and what of the session that refreshes could decide the keys.
use BloomTest;

my $node = new_node('as_owner');
$node->safe_psql('postgres', <<'EOC');
CREATE EXTENSION IF NOT EXISTS bloomfilter;
CREATE ROLE nightly LOGIN;
GRANT CREATE ON SCHEMA public TO nightly;
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA public TO nightly;
GRANT SELECT ON bloom_published TO nightly;
CREATE TABLE users AS SELECT g::bigint AS id FROM generate_series(1, 2000) g;
GRANT SELECT ON users TO nightly;
CREATE TABLE seen (what text, who name);
GRANT SELECT, INSERT ON seen TO PUBLIC;
EOC
my $super = session($node);
my $user = $super->query('SELECT current_user');
my $nightly = session($node, on_connect => 'SET SESSION AUTHORIZATION nightly');

# A session after a run: its role, no restriction, its own settings.
my $as_before = $super->query(q{SELECT concat_ws(' ', current_user, current_setting('search_path'), current_setting('work_mem'), current_setting('timezone'))});
sub unharmed
{
	my ($name) = @_;
	is($super->query(q{SELECT concat_ws(' ', current_user, current_setting('search_path'), current_setting('work_mem'), current_setting('timezone'))}),
		$as_before, "$name: the session is the caller's");
	is($super->state_of('CREATE TEMP TABLE mine (); DROP TABLE mine'), '', "$name: and may create a temporary table");
	return;
}

# The owner publishes a list by a query that does what it likes when another session runs it, and a superuser refreshes it.
my $lists = 0;
sub refreshed
{
	my ($name, $query, $state, $message) = @_;
	my $list = 'way ' . ++$lists;
	my (undef, $first, $told) = $nightly->try("CALL bloom_publish('$list', \$query\$$query\$query\$)");
	is($first, '', "$name: is published by the owner") or diag $told;
	my (undef, $second, $text) = $super->try("CALL bloom_refresh('$list')");
	is($second, $state, "$name: a superuser's refresh") or diag $text;
	like($text, $message, "$name: says why") if defined $message;
	unharmed($name);
	return;
}

# The ways to another role.  In the owner's own session they do nothing.
my $when = q{session_user <> 'nightly'};
$nightly->query(<<"EOC");
CREATE FUNCTION out_by_role(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN EXECUTE 'SET ROLE NONE'; INSERT INTO seen VALUES ('role', current_user); END IF; RETURN id; END \$\$;
CREATE FUNCTION out_by_session(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN EXECUTE 'SET SESSION AUTHORIZATION DEFAULT'; INSERT INTO seen VALUES ('session', current_user); END IF; RETURN id; END \$\$;
CREATE FUNCTION out_by_do(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN EXECUTE 'DO ''BEGIN SET ROLE NONE; END'''; END IF; RETURN id; END \$\$;
CREATE FUNCTION in_domain(id bigint) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN PERFORM set_config('role', 'none', false); END IF; RETURN true; END \$\$;
CREATE DOMAIN checked AS bigint CHECK (in_domain(VALUE));
CREATE FUNCTION compares(a bigint, b bigint) RETURNS boolean LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN PERFORM set_config('role', 'none', false); END IF; RETURN a = b; END \$\$;
CREATE OPERATOR === (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = compares);
CREATE FUNCTION folded() RETURNS bigint IMMUTABLE LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN PERFORM set_config('role', 'none', false); END IF; RETURN 1; END \$\$;
CREATE FUNCTION in_worker(id bigint) RETURNS bigint PARALLEL SAFE COST 100000 LANGUAGE plpgsql AS \$\$ BEGIN
IF current_user <> 'nightly' OR $when AND current_setting('row_security')::boolean THEN RAISE 'runs as %', current_user; END IF; RETURN id; END \$\$;
CREATE TABLE late (id bigint);
CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS \$\$ BEGIN
INSERT INTO seen VALUES ('late', current_user); RETURN NULL; END \$\$;
CREATE CONSTRAINT TRIGGER late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late();
CREATE FUNCTION deferred(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN INSERT INTO late VALUES (id); END IF; RETURN id; END \$\$;
CREATE FUNCTION makes_temporary(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN CREATE TEMP TABLE mine (id bigint); END IF; RETURN id; END \$\$;
CREATE FUNCTION sets(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
PERFORM set_config('search_path', 'nowhere', false), set_config('work_mem', '64kB', false), set_config('timezone', 'Asia/Tokyo', false); RETURN id; END \$\$;
CREATE FUNCTION drops(id bigint, list text) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN EXECUTE format('CALL bloom_drop(%L)', list); END IF; RETURN id; END \$\$;
CREATE SEQUENCE runs;
CREATE FUNCTION in_check(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when AND id = 1 AND nextval('runs') = 2 THEN EXECUTE 'SET ROLE NONE'; END IF; RETURN id; END \$\$;
CREATE FUNCTION fails(id bigint) RETURNS bigint LANGUAGE plpgsql AS \$\$ BEGIN
IF $when THEN RETURN id / 0; END IF; RETURN id; END \$\$;
EOC
my $restricted = qr/within security-restricted operation/;
my @ways = (
	[ 'SET ROLE', 'SELECT out_by_role(id) FROM users' ],
	[ 'SET SESSION AUTHORIZATION', 'SELECT out_by_session(id) FROM users' ],
	[ 'set_config', qq{SELECT id FROM users WHERE CASE WHEN $when THEN set_config('role', 'none', false) END IS NULL} ],
	[ 'DO', 'SELECT out_by_do(id) FROM users' ],
	[ 'the domain of a key', 'SELECT id::checked FROM users' ],
	[ 'the domain of a constant', q{SELECT '7'::checked} ],
	[ 'an operator', 'SELECT id FROM users WHERE id === id' ],
	[ 'what the planner folds', 'SELECT id + folded() FROM users' ],
	[ 'the boolean of an exact list', 'SELECT id, out_by_role(id) > 1000 FROM users' ],
	[ 'the check alone', 'SELECT in_check(id) FROM users' ],
	[ 'a temporary table', 'SELECT makes_temporary(id) FROM users' ]);
refreshed(@$_, '42501', $restricted) foreach @ways;
refreshed('a deferred trigger', 'SELECT deferred(id) FROM users', '42501', qr/deferred trigger within security-restricted operation/);
refreshed('settings', 'SELECT sets(id) FROM users', '');
refreshed('its own list', q{SELECT drops(id, 'way 14') FROM users}, '55006', qr/list "way 14" is being published by this session/);
$super->query('ALTER TABLE users SET (parallel_workers = 2); SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0');
refreshed('workers', 'SELECT in_worker(id) FROM users', '');
is($super->query(q{SELECT count(*) FROM seen}), 0, 'nothing has run as anybody else');
# The settings that such a query leaves aren't what the list is kept with.
is($super->query(q{SELECT settings FROM bloom_published WHERE name = 'way 13'}), '{}', 'nor decides what is kept');

# An error in each of the three transactions: of the start, of the publish, of what is kept of its error.
$nightly->query(q{CALL bloom_publish('users', 'SELECT id FROM users')});
$super->query('CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$');
$super->query('CREATE TRIGGER planted BEFORE INSERT ON bloom_run FOR EACH ROW EXECUTE FUNCTION nothing()');
is($super->state_of(q{CALL bloom_refresh('users')}), '42501', 'an error where the start is written');
unharmed('in the first transaction');
$super->query('DROP TRIGGER planted ON bloom_run');
refreshed('in the second transaction', 'SELECT fails(id) FROM users', '22012', undef);
$super->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SAVEPOINT s');
is($super->state_of("CALL bloom_refresh('way $lists')"), '22012', 'an error in a block');
$super->query('ROLLBACK TO s');
is($super->query('SELECT current_user'), $user, 'leaves the block to its role');
$super->query('COMMIT');
unharmed('after a block');
# The third one fails where the error can't be written.
$super->query(q{ALTER TABLE bloom_run ADD CONSTRAINT no_error CHECK (error IS NULL) NOT VALID});
is($super->state_of("CALL bloom_refresh('way $lists')"), '22012', 'an error that is not kept is told');
unharmed('in the third transaction');
$super->query('ALTER TABLE bloom_run DROP CONSTRAINT no_error');

# Settings of the session that refreshes decide nothing: those of the publish are kept.
$super->query(q{CREATE TABLE event AS SELECT '2026-01-01 00:30+09'::timestamptz + g * interval '1 day' AS at, g / 3.0::float8 AS x, ('\x' || lpad(to_hex(g), 2, '0'))::bytea AS b,
	g * interval '1 day 3 hours' AS i FROM generate_series(0, 30) g; GRANT SELECT ON event TO nightly});
my @texts = ('at::date', 'at::text', 'x::text', 'b::text', 'i::text', 'quote_ident(i::text)');
my %session = (timezone => 'Asia/Tokyo', datestyle => 'German', extra_float_digits => '-5', bytea_output => 'escape', intervalstyle => 'iso_8601',
	quote_all_identifiers => 'on');
$nightly->query("SET $_ = '$session{$_}'") foreach sort keys %session;
$nightly->query("CALL bloom_publish('$_', \$\$SELECT $texts[$_] FROM event\$\$)") foreach 0 .. $#texts;
is($super->query(q{SELECT array_to_string(settings, ' ') FROM bloom_published WHERE name = '0'}),
	'TimeZone=Asia/Tokyo DateStyle=German, DMY IntervalStyle=iso_8601 extra_float_digits=-5 bytea_output=escape quote_all_identifiers=on', 'what is kept is shown');
$super->query("SET timezone = 'America/Los_Angeles'");
foreach my $number (0 .. $#texts)
{
	$super->query("CALL bloom_refresh('$number')");
	is($nightly->query("SELECT count(*) FROM event WHERE NOT bloom_lookup('$number', $texts[$number])"), 0, "$texts[$number] is as it was published");
}
is($super->query('SHOW timezone'), 'America/Los_Angeles', 'the session has its own');
$super->query('RESET timezone');
$super->query(q{CALL bloom_publish('0', 'SELECT at::date FROM event')});
is($super->query(q{SELECT array_to_string(settings, ' ') FROM bloom_published WHERE name = '0'}), '', 'who publishes again keeps those of his session');

# Nor does a temporary table of that session stand in for the one that was meant.
$super->query('CREATE TEMP TABLE users AS SELECT g::bigint AS id FROM generate_series(1, 1500) g');
$super->query(q{CALL bloom_refresh('users')});
is($super->query(q{SELECT count(*) FILTER (WHERE NOT bloom_lookup('users', id)) FROM public.users}), 0, 'a temporary table hides nothing');
$super->query('CREATE TEMP TABLE alone AS SELECT 1 AS id');
my (undef, undef, $notice) = $super->try(q{CALL bloom_publish('alone', 'SELECT id FROM alone')});
like($notice, qr/not kept, since it reads a temporary table/, 'a query of a temporary table is told of');
is($super->query(q{SELECT query IS NULL FROM bloom_published WHERE name = 'alone'}), 't', 'and not kept');
$super->query('CREATE TABLE gone AS SELECT 1 AS id');
$super->query(q{CALL bloom_publish('gone', 'SELECT id FROM gone')});
$super->query('DROP TABLE gone; CREATE TEMP TABLE gone AS SELECT 2 AS id');
is($super->state_of(q{CALL bloom_refresh('gone')}), '0A000', 'a refresh takes no temporary table');

# A policy that would filter is an error, also through a function and for an exact list.
$super->query(q{CREATE TABLE acct AS SELECT g::bigint AS id, g % 4 AS tenant FROM generate_series(1, 4000) g; GRANT SELECT ON acct TO nightly;
	CREATE FUNCTION ids() RETURNS SETOF bigint LANGUAGE sql STABLE AS 'SELECT id FROM acct'});
my %query = (plain => 'SELECT id FROM acct', exact => 'SELECT id, id % 2 = 0 FROM acct', function => 'SELECT ids()');
$nightly->query("CALL bloom_publish('$_', '$query{$_}')") foreach sort keys %query;
$super->query('ALTER TABLE acct ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON acct FOR SELECT USING (tenant <> 3)');
foreach my $list (sort keys %query)
{
	foreach my $session ($super, $nightly)
	{
		my (undef, $state, $text) = $session->try("CALL bloom_refresh('$list')");
		is($state, '42501', "$list: a policy that filters is an error");
		like($text, qr/affected by row-level security policy.*would lack rows without a word/s, "$list: which says what to do");
	}
	is($super->query("SELECT count(*) FROM acct WHERE NOT bloom_lookup('$list', id)" . ($list eq 'exact' ? ' AND id % 2 = 0' : '')), 0, "$list: has all keys");
}
is($nightly->state_of(q{CALL bloom_publish('acct', 'SELECT id FROM acct')}), '42501', 'so is a first publish');
$super->query(q{CALL bloom_alter('plain', owner => current_user::name)});
is($super->state_of(q{CALL bloom_refresh('plain')}), '', 'who owns the table sees all rows');

# What else runs expressions of others: a build of a live index as the table's owner, whoever rebuilds it;
# bloom_search as the caller, with the rights of a query of the table.
$nightly->query(<<'EOC');
CREATE TABLE built (id bigint) PARTITION BY RANGE (id);
CREATE TABLE built_1 PARTITION OF built FOR VALUES FROM (0) TO (100);
INSERT INTO built SELECT g FROM generate_series(1, 10) g;
CREATE FUNCTION notes() RETURNS void LANGUAGE sql AS 'INSERT INTO public.seen VALUES (''build'', current_user)';
CREATE FUNCTION tells(id bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
'BEGIN IF session_user <> ''nightly'' THEN PERFORM public.notes(), set_config(''role'', ''none'', false); END IF; RETURN id; END';
CREATE INDEX built_tells ON built_1 USING bloomfilter (tells(id));
CREATE INDEX ON built USING bloomfilter (id);
EOC
my (undef, $rebuilt, $said) = $super->try('REINDEX INDEX built_tells');
is($rebuilt, '42501', 'an expression of a live index can not leave its role where a superuser rebuilds it') or diag $said;
$super->query("DELETE FROM seen WHERE what = 'build'");
$nightly->query(q{CREATE OR REPLACE FUNCTION tells(id bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS
'BEGIN IF session_user <> ''nightly'' THEN PERFORM public.notes(); END IF; RETURN id; END'});
$super->query('REINDEX INDEX built_tells');
is($super->query("SELECT string_agg(DISTINCT who, ' ') FROM seen WHERE what = 'build'"), 'nightly', 'and runs as the owner of the table');
$super->query('CREATE ROLE searcher LOGIN; GRANT SELECT ON built TO searcher; GRANT EXECUTE ON ALL ROUTINES IN SCHEMA public TO searcher');
$nightly->query(q{ALTER TABLE built ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON built USING (id <> 7)});
my $searcher = session($node, on_connect => 'SET SESSION AUTHORIZATION searcher');
is($searcher->query("SELECT count(*) FROM generate_series(7, 8) k, bloom_search(NULL::built, 'id', k::bigint)"), '1', 'bloom_search reads what a query of the caller reads');
$searcher->quit;
unharmed('after these');

finish($node);
