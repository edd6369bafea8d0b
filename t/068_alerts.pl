# examples/alerts: what postgres_exporter asks runs as a role that only watches, the rules over it ask
# for metrics that come of it, and a failed run and a slot that nobody reads are told.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $folder = "$FindBin::RealBin/../examples/alerts";
my $node = new_node('alerts', conf => "wal_level = replica\nmax_replication_slots = 1\n");
my $session = session($node);
$session->query($_) foreach (
	'CREATE TABLE account AS SELECT generate_series(1, 1000) AS id',
	'CREATE INDEX account_live ON account USING bloomfilter (id)',
	q{CALL bloom_publish('good', 'SELECT id FROM account')},
	q{SELECT pg_create_physical_replication_slot('dead', true)},
	'CREATE ROLE watcher; GRANT SELECT ON bloom_published, bloom_live, account TO watcher');
is($session->state_of(q{CALL bloom_publish('bad', 'SELECT 1/0')}), '22012', 'a run fails');
$session->query('SET ROLE watcher');

# {metric{labels} => value}, as the exporter makes them: a label is a column of its own.
my %metric;
my $queries = slurp_file("$folder/postgres_exporter.yml");
while ($queries =~ /^(\w+):\n  query: \|\n(.*?)  metrics:\n((?:    - [^\n]*\n)+)/msg)
{
	my ($prefix, $query, $columns) = ($1, $2, $3);
	my %usage = $columns =~ /^    - (\w+): \{usage: (\w+), description: [^:{}]+\}$/mg;
	my @labels = grep { $usage{$_} eq 'LABEL' } sort keys %usage;
	foreach my $column (grep { $usage{$_} eq 'GAUGE' } sort keys %usage)
	{
		my $rows = $session->query("SELECT $labels[0], ${column}::float8 FROM ($query) q");
		$metric{"${prefix}_$column"} = { map { split /\|/, $_, 2 } split /\n/, $rows };
	}
}
is(scalar(keys %metric), 10, 'ten metrics are asked for');
my @asked = slurp_file("$folder/database.yml") =~ /\b(bloomfilter_[a-z_]+)/g;
cmp_ok(scalar(@asked), '>=', 8, 'and rules ask for metrics');
is(join(' ', grep { !$metric{$_} } @asked), '', 'that there are');
is("$metric{bloomfilter_list_failed}{bad} $metric{bloomfilter_list_failed}{good}", '1 0', 'a run that failed is told');
is($metric{bloomfilter_slot_active}{dead}, 0, 'so is a slot that nobody reads');
is($metric{bloomfilter_index_ok}{account_live}, 1, 'and a live index');

$session->quit;
$node->stop;
done_testing();
