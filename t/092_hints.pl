# Hints, followed to the letter by an ordinary role.  All names need quotes, and the extension's schema is
# not on the search_path: what a hint says to run runs, and then each member is found.
use BloomTest;

my ($ext, $list, $table, $key) = (q{"Ex'"""}, q{'L''st "x"'}, q{"S'c""h"."T'a""b"}, q{"I'd"""});
my $query = qq{\$q\$SELECT $key FROM $table\$q\$};
my $node = new_node('hints');
$node->safe_psql('postgres', 'DROP EXTENSION bloomfilter');
$node->safe_psql('postgres', <<"EOC");
CREATE SCHEMA $ext;
CREATE EXTENSION bloomfilter SCHEMA $ext;
CREATE ROLE "Ni""ght";
CREATE ROLE "O'th""er";
CREATE SCHEMA "S'c""h" AUTHORIZATION "Ni""ght";
GRANT USAGE ON SCHEMA $ext TO PUBLIC;
GRANT EXECUTE ON PROCEDURE $ext.bloom_publish TO "Ni""ght";
GRANT EXECUTE ON FUNCTION $ext.bloom_lookup(text, anyelement), $ext.bloom_lookup(text, $ext.bloom_key) TO "Ni""ght";
GRANT SELECT ON $ext.bloom_published TO "Ni""ght";
EOC
my $super = session($node);
my $user = session($node);
$user->query('SET SESSION AUTHORIZATION "Ni""ght"');
$user->query("CREATE TABLE $table ($key int); INSERT INTO $table SELECT generate_series(1, 2000)");

# The hint of an error, or of a notice where no SQLSTATE is given.
sub hint_of
{
	my ($state, $sql) = @_;
	my (undef, $got, $told) = $user->try($sql);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	is($got, $state, $sql) or diag $told;
	return $told =~ /^HINT:  (.*)$/m ? $1 : '';
}

# The statement of a hint that a pattern takes out, run.
sub follow
{
	my ($session, $hint, $pattern) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is(($session->try($1))[1], '', $1) if $hint =~ $pattern;
	return fail("no $pattern in: $hint");
}

sub has_all
{
	my ($name) = @_;
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	return is($user->query("SELECT count(*) FILTER (WHERE NOT $ext.bloom_lookup($list, $key)) FROM $table"), 0, "$name: each key is found");
}

sub track { my ($column) = @_; return "CALL $ext.bloom_track($list, \$t\$$table\$t\$, $column)"; }
sub publish { my ($of, $also) = @_; return "CALL $ext.bloom_publish($list, $of$also)"; }

# Lists that are not there, and what counts from the next run on.
my $hint = hint_of('42704', "SELECT $ext.bloom_lookup($list, 1)");
follow($user, $hint =~ s/'SELECT \.\.\.'/$query/r, qr/(CALL .*?\)), or/);
follow($user, hint_of('', "CALL $ext.bloom_alter($list, p => 0.001, n => 4000)"), qr/(CALL .*)\./);
has_all('a refresh');

# Tracked lists.
my $track = track(q{'I''d"'});
follow($user, hint_of('55000', "SELECT $ext.bloom_change($list, 1, true)"), qr/(CALL .*)\./);
$hint = hint_of('55000', $track);
follow($user, $hint, qr/(CALL \S+untrack\(.*?\)), then/);
follow($user, $hint, qr/then (CALL .*?\)), and/);
is($user->state_of(publish("$query || ' '", '')), '', 'without triggers a tracked list may get another query');
$user->query(publish($query, ''));
follow($user, $hint, qr/(CREATE UNIQUE .*?\))\. Where/);
$user->query($track);
$user->query("INSERT INTO $table VALUES (3000)");
has_all('tracked');
$user->query('SET search_path = public');
my (undef, undef, $refused) = $user->try(publish($query, ''));
like($refused, qr/DETAIL:  Its query runs with another search_path: that of bloom_published.settings, or the session's default/, 'the same text elsewhere is another query');
$user->query('RESET search_path');
$user->query(publish($query, ''));
follow($user, hint_of('55000', "TRUNCATE $table"), qr/or (CALL .*) first/);
$user->query($track);
like(hint_of('42703', track(q{'nowhere'})), qr/bloom_track with the list's table and columns/, 'a column that is not there');

# A list that lost most keys, all keys, got others: those who take no such argument name one that does.
$user->query("DELETE FROM $table WHERE $key > 10");
follow($user, hint_of('22000', "CALL $ext.bloom_untrack($list)"), qr/first (CALL .*)\./);
$user->query("CALL $ext.bloom_untrack($list)");
my $with = q{CALL bloom_publish with the list's query and};
$user->query("DELETE FROM $table");
like(hint_of('P0002', "CALL $ext.bloom_refresh($list)"), qr/, $with allow_empty => true/, 'no keys');
like(hint_of('P0002', publish($query, '')), qr/, add allow_empty => true/, 'bloom_publish has it itself');
$user->query(publish($query, ', allow_empty => true'));
$user->query("INSERT INTO $table VALUES (1); CALL $ext.bloom_refresh($list)");
$user->query("CREATE VIEW \"S'c\"\"h\".v AS SELECT $key AS k FROM $table; " . publish(q{'SELECT * FROM "S''c""h".v'}, ''));
foreach my $view ([ '42804', "$key\::text AS k", 'allow_type_change => true' ], [ '55000', "$key AS k, true", 'allow_type_change => true' ],
	[ '22000', "$key AS k, b", 'on_conflict => true' ])
{
	my ($state, $columns, $argument) = @$view;
	$user->query("DROP VIEW \"S'c\"\"h\".v; CREATE VIEW \"S'c\"\"h\".v AS SELECT $columns FROM $table, (VALUES (true), (false)) b(b)");
	like(hint_of($state, "CALL $ext.bloom_refresh($list)"), qr/ $with $argument/, $columns);
	$user->query(publish(q{'SELECT * FROM "S''c""h".v'}, ", $argument"));
}
$user->query("CALL $ext.bloom_drop($list)");

# The query of a tracked list names a column by its old name.
$user->query(publish($query, ', n => 3000, seed => 7'));
$user->query($track);
my $values = "SELECT concat_ws(' ', n, p, owner, identity, max_shrink) FROM $ext.bloom_published WHERE name = $list";
my $before = $user->query($values);
$user->query("ALTER TABLE $table RENAME $key TO new");
like(hint_of('42703', "INSERT INTO $table VALUES (7)"), qr/bloom_track with the list's table and columns makes its triggers anew/, 'a row is refused');
my $new = $query =~ s/SELECT \S+/SELECT new/r;
like(hint_of('55000', publish($new, '')), qr/Where that query can't be run any more, drop the table's triggers/, 'another query is refused');
is($user->state_of("CALL $ext.bloom_untrack($list)"), '42703', 'and the old one fails');
$user->query($super->query("SELECT string_agg(format('DROP TRIGGER %I ON %s', tgname, \$t\$$table\$t\$), ';') FROM pg_trigger WHERE tgname LIKE 'bloom%'"));
$user->query("INSERT INTO $table VALUES (7)");
$user->query(publish($new, ''));
$user->query(track(q{'new'}));
$user->query("INSERT INTO $table VALUES (8)");
$key = 'new';
has_all('the new query');
is($user->query($values), $before, 'nothing of the list is lost');

# Dropped, it names its triggers.
my (undef, undef, $told) = $user->try("CALL $ext.bloom_drop($list)");
follow($user, $_, qr/(DROP .*)\./) foreach $told =~ /^HINT:  (.*)$/mg;
is($super->query("SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'bloom%'"), 0, 'which are gone');

# An owner who may not make lists, no owner at all, and the last serial.
$super->query("GRANT \"O'th\"\"er\" TO \"Ni\"\"ght\"");
$user->query(publish($query =~ s/SELECT \S+/SELECT new/r, ''));
follow($super, hint_of('42501', "CALL $ext.bloom_alter($list, owner => 'O''th\"er')"), qr/(GRANT .*)\./);
$super->query('ALTER ROLE "Ni""ght" RENAME TO night');
$hint = hint_of('42501', "CALL $ext.bloom_refresh($list)");
follow($super, $hint =~ s/\.\.\./'night'/r, qr/: (CALL .*)\./);
$super->query("UPDATE $ext.bloom_generation SET serial = 9223372036854775807");
follow($super, hint_of('2200H', "CALL $ext.bloom_refresh($list)"), qr/As a superuser: (UPDATE .*\(\)\))\./);
$user->query("CALL $ext.bloom_refresh($list)");
has_all('the owner that it has now');

# Live indexes.
my $ask = "SELECT $ext.bloom_index_contains(\$t\$$table\$t\$, 'new', 7)";
follow($user, hint_of('42704', $ask), qr/(CREATE INDEX .*?\))\./);
is($user->query($ask), 't', 'its key is found');
is($user->state_of("SELECT $ext.bloom_index_contains(4000000000::regclass, 'new', 7)"), '42P01', 'a table that is not there');
$user->query(qq{CREATE TABLE "S'c""h".p (k text) PARTITION BY LIST (k); CREATE INDEX "p'i""" ON "S'c""h".p USING bloomfilter (k)});
$user->query(qq{CREATE TABLE "S'c""h".p$_ PARTITION OF "S'c""h".p FOR VALUES IN ('$_')}) foreach 1 .. 3;
my $root = q{'"S''c""h"."p''i"""'};
$hint = hint_of('42809', "SELECT $ext.bloom_snapshot($root)");
is($user->query("SELECT count($ext.bloom_snapshot(relid)) FROM (" . ($hint =~ /(SELECT .*)\./)[0] . ') p'), 3, 'all partitions are named');
$user->query(q{CREATE TEMP TABLE t (k int); CREATE INDEX t_k ON t USING bloomfilter (k)});
is(hint_of('0A000', "SELECT $ext.bloom_index_changes('t_k', NULL)"), 'Use bloom_snapshot.', 'no temporary table gets logged');
SKIP:
{
	skip('there is no citext', 3) if $super->query("SELECT count(*) FROM pg_available_extensions WHERE name = 'citext'") == 0;
	$super->query('CREATE EXTENSION citext');
	$user->query(q{CREATE TABLE "S'c""h".q (k text); CREATE INDEX "q'i""" ON "S'c""h".q USING bloomfilter (k); ALTER TABLE "S'c""h".q ALTER k TYPE citext});
	follow($user, hint_of('0A000', q{INSERT INTO "S'c""h".q VALUES ('a')}), qr/(DROP INDEX .*)\./);
	is($user->state_of(q{INSERT INTO "S'c""h".q VALUES ('a')}), '', 'rows go in again');
}

done_testing();
