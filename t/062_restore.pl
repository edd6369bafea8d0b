# A dump with published lists and a live index is restored by the owner of a database
# who is no superuser: nothing fails, the lists are whole, and rights are as they were.
# Rights that another role has granted can be restored by nobody but that role; then
# they are left out and granted anew.
use BloomTest;

my $node = new_node('restore');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->safe_psql('postgres', <<'EOC');
CREATE ROLE shop LOGIN;
CREATE ROLE other_shop LOGIN;
CREATE ROLE asker LOGIN;
CREATE ROLE fetcher LOGIN;
CREATE ROLE watcher LOGIN;
EOC

my $content = <<'EOC';
SELECT g, md5(bloomfilter_send(filter))
FROM bloom_generation g JOIN bloom_generation_part p USING (name, back) ORDER BY name, back, part
EOC

# What a role is told in a database, in the session for this; an error is its SQLSTATE.
my %sessions;
sub told
{
	my ($dbname, $role, $sql) = @_;
	my $session = $sessions{$dbname} //= session($node, dbname => $dbname);
	$session->query("SET ROLE $role");
	my ($out, $state) = $session->try($sql);
	$session->query('RESET ROLE');
	return $state || $out;
}

my $grants = <<'EOC';
GRANT EXECUTE ON FUNCTION bloom_lookup(text, anyelement) TO asker;
GRANT SELECT ON bloom_list, bloom_list_part TO fetcher;
GRANT SELECT ON bloom_published TO watcher;
EOC

# Who owns what is dumped (undef: the superuser), what the restore needs besides, who restores.
my @cases = (
	[ 'by the owner of both', 'shop', [], 'shop' ],
	[ 'by another owner', 'shop', [ '--no-owner', '--no-privileges' ], 'other_shop' ],
	[ 'of a superuser\'s database', undef, ['--no-owner'], 'shop' ]);
my $number = 0;
foreach my $case (@cases)
{
	my ($name, $owner, $options, $restores) = @$case;
	my ($from, $to) = map { "$_" . ++$number } 'source', 'target';
	$owner //= (getpwuid($<))[0];
	$node->safe_psql('postgres', "CREATE DATABASE $from OWNER \"$owner\" TEMPLATE template0");
	$node->safe_psql('postgres', "CREATE DATABASE $to OWNER $restores TEMPLATE template0");
	my $as = sub { return $node->connstr($_[0]) . " user=$_[1]" };
	$node->safe_psql($from, <<"EOC", extra_params => [ '-U', $owner ]);
CREATE EXTENSION bloomfilter;
CREATE TABLE account (id bigint);
INSERT INTO account SELECT generate_series(1, 2000);
CREATE INDEX account_live ON account USING bloomfilter (id);
CALL bloom_publish('account', 'SELECT id FROM account WHERE id <= 1000', parts => 3);
CALL bloom_publish('account', 'SELECT id FROM account', parts => 3);
CALL bloom_publish('few', 'SELECT id FROM account WHERE id <= 10');
CALL bloom_publish('exact', 'SELECT id, id % 10 = 0 FROM account');
$grants
EOC
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $as->($from, $owner) ], "$name: a dump");
	$node->command_ok([ 'pg_restore', '--exit-on-error', @$options, '-d', $as->($to, $restores), $dump ],
		"$name: is restored");
	is($node->safe_psql($to, $content), $node->safe_psql($from, $content), "$name: with all lists");
	is(told($to, $restores, <<'EOC'), '0|0|0', "$name: who restores may ask, no key is missing, and an exact list is exact");
SELECT count(*) FILTER (WHERE NOT bloom_lookup('account', id)), count(*) FILTER (WHERE bloom_lookup('exact', id) <> (id % 10 = 0)),
	count(*) FILTER (WHERE NOT bloom_index_contains('account_live', id)) FROM account
EOC
	if (grep { $_ eq '--no-privileges' } @$options)
	{
		is(told($to, 'asker', "SELECT bloom_lookup('few', 10::bigint)"), '42501', "$name: nobody else may ask");
		is(told($to, $restores, $grants), '', "$name: until it is granted");
	}
	is(told($to, 'asker', "SELECT bloom_lookup('few', 10::bigint)"), 't', "$name: an asker asks");
	is(told($to, 'asker', 'SELECT filter FROM bloom_list_part'), '42501', "$name: and reads no filter");
	is(told($to, 'fetcher', 'SELECT count(*) FROM bloom_list_part'), '5', "$name: a fetcher fetches");
	is(told($to, 'watcher', "SELECT rows FROM bloom_published WHERE name = 'account'"), '2000', "$name: a watcher watches");
	my $accepted = $owner eq $restores;
	is(told($to, $restores, "SELECT owner, query FROM bloom_published WHERE name = 'few'"),
		($accepted ? $owner : '') . '|SELECT id FROM account WHERE id <= 10', "$name: the query is there, " . ($accepted ? 'accepted' : 'and waits'));
	is(told($to, $restores, "CALL bloom_refresh('few')"), $accepted ? '' : '42501', "$name: " . ($accepted ? 'and runs' : 'and runs for nobody'));
	is(told($to, 'asker', "CALL bloom_refresh('few')"), '42501', "$name: nor for somebody else");
	if (!$accepted)
	{
		is(told($to, $restores, "CALL bloom_alter('few', owner => '$owner')"), '42501', "$name: who can't become its owner accepts nothing for that");
		is(told($to, 'asker', "CALL bloom_alter('few', owner => 'asker')"), '42501', "$name: nor does somebody else take it");
		is(told($to, $restores, "CALL bloom_alter('$_', owner => '$restores')"), '', "$name: the database's owner takes it") foreach qw(account few);
		is(told($to, $restores, "CALL bloom_refresh('few')"), '', "$name: and it runs");
	}
	my ($serial, $identity) = split /\|/, $node->safe_psql($from, "SELECT serial, identity FROM bloom_list WHERE name = 'account'");
	my $same = "SELECT rows, serial > $serial, identity = '$identity' FROM bloom_list WHERE name = 'account'";
	is(told($to, $restores, "CALL bloom_rollback('account'); $same"), '1000|t|t', "$name: the way back is there, with a serial that is newer");
	is(told($to, $restores, "CALL bloom_publish('account', 'SELECT id FROM account'); $same"), '2000|t|t', "$name: and the next night");
	is(told($to, $restores, 'GRANT SELECT ON bloom_list TO asker'), '', "$name: who restores may let others");
}

# The extension is handed over with its database by REASSIGN OWNED and DROP OWNED: the new owner
# publishes and grants, and nobody has to be a superuser for it.
{
	$node->safe_psql('postgres', 'CREATE ROLE leaves LOGIN; CREATE ROLE comes LOGIN; CREATE DATABASE handed OWNER leaves TEMPLATE template0');
	is(told('handed', 'leaves', "CREATE EXTENSION bloomfilter; CREATE TABLE account AS SELECT generate_series(1, 2000)::bigint AS id;
CALL bloom_publish('account', 'SELECT id FROM account'); $grants"), '', 'handed over: published by the owner that leaves');
	$node->safe_psql('handed', 'REASSIGN OWNED BY leaves TO comes');
	is(told('handed', 'comes', $grants), '', 'handed over: the new owner grants the same rights');
	$node->safe_psql('handed', 'DROP OWNED BY leaves; DROP ROLE leaves');
	is(told('handed', 'asker', "SELECT bloom_lookup('account', 10::bigint)"), 't', 'handed over: an asker asks');
	is(told('handed', 'watcher', 'SELECT published_by FROM bloom_published'), 'leaves', 'handed over: a watcher watches');
	is(told('handed', 'comes', "CALL bloom_refresh('account')"), '42501', 'handed over: the list is still that of the role that is gone');
	is(told('handed', 'comes', "CALL bloom_publish('account', 'SELECT id FROM account')"), '42501', 'handed over: also to the new owner, who does not publish over it');
	is(told('handed', 'comes', "CALL bloom_alter('account', owner => 'comes')"), '', 'handed over: but takes it');
	is(told('handed', 'comes', "CALL bloom_refresh('account'); SELECT published_by FROM bloom_published"), 'comes', 'handed over: and refreshes');
	is(told('handed', 'asker', "SELECT bloom_lookup('account', 10::bigint)"), 't', 'handed over: an asker asks then');
	$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.handed", '-d', $node->connstr('handed') ], 'handed over: a dump');
	$node->safe_psql('postgres', 'CREATE DATABASE handed2 OWNER comes TEMPLATE template0');
	# Up to 16 PostgreSQL keeps a dropped role's initial rights, and dumps their removal by number.
	$node->command_ok([ 'pg_restore', '--exit-on-error', '--no-privileges', '-d', $node->connstr('handed2') . ' user=comes', "$dump.handed" ],
		'handed over: is restored by the new owner');
	is(told('handed2', 'comes', $grants), '', 'handed over: who grants again');
	is(told('handed2', 'asker', "SELECT bloom_lookup('account', 10::bigint)"), 't', 'handed over: and an asker asks there');
}

# Who restores decides which owners are accepted, by whatever way the rows come.
$node->safe_psql('postgres', <<'EOC');
CREATE ROLE nightly LOGIN;
CREATE ROLE leader LOGIN IN ROLE nightly;
CREATE ROLE going;
CREATE DATABASE source TEMPLATE template0;
EOC
$node->safe_psql('source', <<'EOC');
CREATE EXTENSION bloomfilter;
CREATE TABLE account AS SELECT generate_series(1, 2000)::bigint AS id;
GRANT SELECT ON account TO PUBLIC;
CALL bloom_publish('account', 'SELECT id FROM account');
CALL bloom_alter('account', owner => 'nightly');
CALL bloom_publish('super', 'SELECT id FROM account');
CALL bloom_publish('gone', 'SELECT id FROM account');
CALL bloom_alter('gone', owner => 'going');
SELECT bloom_publish_filter('value', bloom_agg(id)) FROM account;
CALL bloom_alter('value', owner => 'going');
EOC
my $whose = q{SELECT string_agg(name || ' ' || coalesce(owner, '-'), ', ' ORDER BY name) FROM bloom_published};
my $super = (getpwuid($<))[0];
my $all = "account nightly, gone going, super $super, value going";
my $none = 'account -, gone -, super -, value -';
my $custom = ['-Fc'];
my %dumps;
my @ways = (
	[ 'a superuser', $custom, [], $super, $super, $all ],
	[ 'by two jobs', ['-Fd'], ['-j2'], $super, $super, $all ],
	[ 'by INSERT', [ '-Fc', '--inserts' ], [], $super, $super, $all ],
	[ 'ON CONFLICT DO NOTHING', [ '-Fc', '--inserts', '--on-conflict-do-nothing' ], [], $super, $super, $all ],
	[ 'under session_replication_role', $custom, [], $super, $super, $all, '-c session_replication_role=replica' ],
	[ 'with --disable-triggers', $custom, [ '--data-only', '--disable-triggers' ], $super, $super, $none ],
	[ 'as --role', $custom, [ '--role=nightly', '--no-owner', '--no-privileges' ], $super, 'nightly', 'account nightly, gone -, super -, value -' ],
	[ 'the database\'s owner', $custom, [ '--no-owner', '--no-privileges' ], 'leader', 'leader', 'account nightly, gone -, super -, value -' ]);
foreach my $way (@ways)
{
	my ($name, $dumped, $options, $as, $owner, $expected, $pgoptions) = @$way;
	my $to = 'way' . ++$number;
	my $rows = $dumps{"@$dumped"};
	local $ENV{PGOPTIONS} = $pgoptions // '';
	$node->safe_psql('postgres', "CREATE DATABASE $to OWNER \"$owner\" TEMPLATE template0");
	$node->safe_psql($to, 'CREATE EXTENSION bloomfilter; CREATE TABLE account (id bigint)') if grep { $_ eq '--data-only' } @$options;
	$node->command_ok([ 'pg_dump', @$dumped, '-f', $rows = $dumps{"@$dumped"} = "$dump.$to", '-d', $node->connstr('source') ], "$name: a dump") if !defined $rows;
	$node->command_ok([ 'pg_restore', '-e', @$options, '-d', $node->connstr($to) . " user=$as", $rows ], "$name: is restored");
	is($node->safe_psql($to, $whose), $expected, "$name: accepts the owners that it could become");
	is($node->safe_psql($to, 'SELECT count(*) FROM bloom_definition WHERE query IS NOT NULL'), 3, "$name: and loses no query");
	is($node->safe_psql($to, q{GRANT SELECT ON account TO nightly; CALL bloom_refresh('account'); SELECT owner FROM bloom_published WHERE name = 'account'}), 'nightly', "$name: what is accepted runs")
	  if $expected =~ /nightly/;
}

# A dump that is not what it seems: the database's owner plants no query for roles that it can't become,
# nor by a row for a list that is there.
{
	my $planted = "INSERT INTO bloom_definition (name, owner, query, settings, \"check\", allow_empty, on_conflict) VALUES ('%s', '%s', 'SELECT 1', '{search_path=public}', true, false, 0)%s";
	my $session = session($node, dbname => 'way' . $number, on_connect => 'SET ROLE leader');
	is(($session->try(sprintf($planted, 'planted', $super, '')))[1], '', 'a planted row is taken');
	is($session->state_of(q{CALL bloom_refresh('planted')}), '42501', 'and not run');
	is($session->state_of(sprintf($planted =~ s/search_path=public//r, 'bare', 'leader', '')), '23514', 'nor is one taken without the search_path, which would be read');
	is($session->state_of(sprintf($planted, 'account', 'leader', '')), '23505', 'no second one for a list');
	is($session->state_of(sprintf($planted, 'super', 'leader', ' ON CONFLICT DO NOTHING')), '', 'nor is a row taken over that was not written');
	is($session->query($whose), 'account nightly, gone -, super -, value -', 'and nobody owns more than before');
	is($session->state_of(sprintf($planted, 'account', 'leader', q{ ON CONFLICT (name) DO UPDATE SET query = 'SELECT 2'})), '42501', 'nor changed');
	is($session->state_of(q{CALL bloom_alter('planted', owner => 'leader')}), '', 'what is planted runs as who accepts it');
	$session->quit;
}

# A cluster whose roles have other numbers, and lack one.
{
	my $other = new_node('other');
	$other->safe_psql('postgres', 'CREATE ROLE other_number; CREATE ROLE leader; CREATE ROLE nightly; CREATE DATABASE target TEMPLATE template0');
	$other->command_ok([ 'pg_restore', '-e', '--no-owner', '--no-privileges', '-d', $other->connstr('target'), $dumps{'-Fc'} ], 'other numbers: is restored');
	is($other->safe_psql('target', $whose), "account nightly, gone -, super $super, value -", 'other numbers: the owners have their names');
	$other->safe_psql('target', 'CREATE ROLE going');
	is($other->safe_psql('target', $whose), "account nightly, gone -, super $super, value -", 'other numbers: a role that comes later has accepted nothing');
	is($other->safe_psql('target', q{CALL bloom_alter('gone', owner => 'going'); SELECT owner FROM bloom_published WHERE name = 'gone'}), 'going', 'other numbers: until it is said');
	$other->stop;
}

# Dropped, and made again.
is($node->safe_psql('source', "DROP ROLE going; $whose"), "account nightly, gone -, super $super, value -", 'a role that owns lists can be dropped');
is($node->safe_psql('source', "CREATE ROLE going; $whose"), "account nightly, gone -, super $super, value -", 'and is another one when it comes again');

# From 16 on a membership may inherit and not become: such a member refreshes, and writes no query.
SKIP:
{
	skip 'memberships have no SET before 16', 6 if server_version($node) < 16;
	$node->safe_psql('source', <<'EOC');
CREATE ROLE uses; GRANT nightly TO uses WITH INHERIT TRUE, SET FALSE;
CREATE ROLE administers; GRANT nightly TO administers WITH ADMIN TRUE, INHERIT FALSE, SET FALSE;
GRANT EXECUTE ON PROCEDURE bloom_publish TO uses, administers;
EOC
	is(told('source', 'uses', "CALL bloom_refresh('account')"), '', 'SET FALSE: refreshes');
	is(told('source', 'uses', "CALL bloom_publish('account', 'SELECT 1')"), '42501', 'SET FALSE: gives no query');
	is(told('source', 'uses', "CALL bloom_alter('account', owner => 'nightly')"), '', 'SET FALSE: leaves the owner');
	is(told('source', 'administers', "CALL bloom_$_('account')"), '42501', "ADMIN alone: no $_") foreach qw(refresh rollback drop);
}

finish($node);
