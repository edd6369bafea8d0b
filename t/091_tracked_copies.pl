# A tracked list that was restored from a dump answers as the table says, and goes on from there.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $node = new_node('restored');
my $folder = PostgreSQL::Test::Utils::tempdir();
my $wrong = <<'EOC';
SELECT count(*) FROM generate_series(1, 1200) k LEFT JOIN device d ON d.id = k
WHERE bloom_lookup('active', k) IS DISTINCT FROM coalesce(d.active, false)
EOC
my $changes = 'SELECT name, hash, tag, value, version FROM bloom_list_change ORDER BY hash';

# Changes that are in force, and some that a generation has taken up; a rollback in between.
$node->safe_psql('postgres', 'CREATE DATABASE source');
$node->safe_psql('source', $_) foreach 'CREATE EXTENSION bloomfilter',
  'CREATE TABLE device (id int PRIMARY KEY, active boolean)',
  'INSERT INTO device SELECT g, g % 2 = 0 FROM generate_series(1, 1000) g',
  "CALL bloom_publish('active', 'SELECT id, active FROM device', p => 1e-9)",
  "CALL bloom_track('active', 'device', 'id', 'active')",
  'UPDATE device SET active = NOT active WHERE id <= 10', "CALL bloom_refresh('active')",
  'UPDATE device SET active = NOT active WHERE id <= 5; DELETE FROM device WHERE id = 20; INSERT INTO device VALUES (1100, true)';
is($node->safe_psql('source', $wrong), 0, 'the list is right');
my $in_force = $node->safe_psql('source', $changes);
is(scalar(split /\n/, $in_force), 7, 'with seven changes');

# As each restored list must: it goes on, and a rollback brings no removed key back.
sub goes_on
{
	my ($on, $dbname, $name) = @_;
	is($on->safe_psql($dbname, $wrong), 0, "$name: no wrong answer");
	is($on->safe_psql($dbname, $changes), $in_force, "$name: the changes are there");
	$on->safe_psql($dbname, $_) foreach 'UPDATE device SET active = NOT active WHERE id BETWEEN 4 AND 8; DELETE FROM device WHERE id = 30';
	is($on->safe_psql($dbname, $wrong), 0, "$name: changes are recorded");
	$on->safe_psql($dbname, "CALL bloom_rollback('active')");
	is($on->safe_psql($dbname, $wrong), 0, "$name: right after a rollback");
	# bloom_alter forgets the query of the version before, so that it must be given again.
	$on->safe_psql($dbname, "CALL bloom_publish('active', 'SELECT id, active FROM device')") if $name eq 'data alone';
	$on->safe_psql($dbname, "CALL bloom_refresh('active')") foreach 1 .. 3;
	is($on->safe_psql($dbname, $wrong), 0, "$name: and after the next runs");
	is($on->safe_psql($dbname, 'SELECT count(*) FROM bloom_change'), 0, "$name: which take all changes away");
	return;
}

sub run_ok
{
	my ($command, $name) = @_;
	$node->command_ok($command, $name);
	return;
}

$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template0") foreach qw(whole parts);
run_ok([ 'pg_dump', '-f', "$folder/plain.sql", '-d', $node->connstr('source') ], 'a plain dump');
run_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('whole'), '-f', "$folder/plain.sql" ], 'is restored');
goes_on($node, 'whole', 'plain dump');

# The schema first, and the data without triggers: none records what is loaded.
run_ok([ 'pg_dump', '-Fc', '-f', "$folder/dump", '-d', $node->connstr('source') ], 'a dump');
run_ok([ 'pg_restore', '--schema-only', '-d', $node->connstr('parts'), "$folder/dump" ], 'its schema');
run_ok([ 'pg_restore', '--data-only', '--disable-triggers', '-d', $node->connstr('parts'), "$folder/dump" ], 'and its data are restored');
$node->safe_psql('parts', "CALL bloom_alter('active', owner => current_user::name)");
goes_on($node, 'parts', 'data alone');

stayed_alive($node);
$node->stop;
done_testing();
