# Many sessions ask for keys that are in, while the filter is replaced again and
# again: no error and no "no", and no session takes more memory than for one copy of
# the filter.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use IPC::Run ();
use List::Util qw(max);
use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $clients = rounds(16, 64);
my $capacity = rounds(1_000_000, 100_000_000);
my $transactions = rounds(500, 3_000);
my $swaps = 20;

# What a session has of its own without any filter, and with room for 20 slices.
use constant OWN_KB => 16 * 1024;

my $node = new_node('load', conf => "max_connections = 100\nlog_statement = none\n");
my $session = session($node);
my $dir = PostgreSQL::Test::Utils::tempdir;

# Each version has a size, a seed and a rate of its own, and all keys of all.
$session->query(<<"EOC");
CREATE TABLE filters (id int PRIMARY KEY, version int, f bloomfilter);
CREATE FUNCTION build(version int) RETURNS bloomfilter LANGUAGE sql AS
'SELECT bloom_add_all(bloom_create($capacity + version * 1000, 0.01 / (1 + version % 3), version), array(SELECT generate_series(1, 20000)))';
INSERT INTO filters VALUES (1, 0, build(0)), (2, 0, bloom_create(10));
EOC

# A "no" divides by zero.  The long scan reads a small filter so often that it copies it.
my %scripts = (
	long => "\\set k random(1, 18000)\nSELECT 1 / min(bloom_contains(f, k)::int) FROM filters, generate_series(:k::int, :k::int + 1999) AS k WHERE id = 1;\n",
	point => "\\set k random(1, 20000)\nSELECT 1 / bloom_contains(f, :k::int)::int FROM filters WHERE id = 1;\n",
	scan => "\\set k random(1, 19000)\nSELECT 1 / min(bloom_contains(f, k)::int) FROM filters, generate_series(:k::int, :k::int + 99) AS k WHERE id = 1;\n",
	array => "\\set k random(1, 19000)\nSELECT 1 / (false <> ALL (bloom_contains_each(f, ARRAY[:k::int, :k::int + 1, :k::int + 2])))::int FROM filters WHERE id = 1;\n");
my @files;
foreach my $name (sort keys %scripts)
{
	my $weight = $name eq 'point' ? 20 : 1;
	open(my $file, '>', "$dir/$name.sql") or die $!;
	print $file $scripts{$name};
	close($file);
	push @files, '-f', "$dir/$name.sql\@$weight";
}

# Notes the memory of those who ask, by their processes.
sub measure
{
	my ($peaks) = @_;
	foreach my $pid (split /\n/, $session->query("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"))
	{
		# One that has ended has no memory to tell of.
		my $kb = own_peak_kb($pid) // next;
		$peaks->{$pid} = max($kb, $peaks->{$pid} // 0);
	}
	return;
}

my $version = 0;
foreach my $protocol ('prepared', 'simple')
{
	my ($printed, $complained) = ('', '');
	my $swapped = 0;
	my $ended = 0;
	my %peaks;

	# The last swap may be before or after the last question: both go on until
	# the other has done its share.
	while ($swapped < $swaps)
	{
		# Each start empties what it writes to.
		my ($out, $err) = ('', '');
		my $pgbench = IPC::Run::start(
			[
				'pgbench', '-n', '-M', $protocol, '-c', $clients, '-j', 2, '-t', $transactions,
				@files, $node->connstr('postgres')
			],
			'<', \undef, '>', \$out, '2>', \$err);
		while ($pgbench->pumpable)
		{
			$version++;
			$session->query("UPDATE filters SET f = build($version), version = $version WHERE id = 1");
			$session->query('VACUUM filters') if $version % 3 == 0;
			$swapped++;
			measure(\%peaks);
			$pgbench->pump_nb;
		}
		$pgbench->finish;
		$ended++;
		$printed .= $out;
		$complained .= $err;
		last if $pgbench->result != 0;
	}
	is($complained =~ /(ERROR|FATAL|aborted).*/ ? $& : '', '', "$protocol: no error and no wrong \"no\"");
	my $asked = 0;
	$asked += $_ foreach $printed =~ m{transactions actually processed: (\d+)/}g;
	is($asked, $ended * $clients * $transactions,
		"$protocol: $clients clients asked $asked times during $swapped swaps");
	SKIP:
	{
		skip 'no /proc to read memory from', 2 if !defined own_peak_kb($session->pid);
		my $copy = int $session->query("SELECT max(octet_length(build(v)::bytea)) / 1024 FROM generate_series($version - 2, $version) AS v");
		my $most = max(0, values %peaks);
		cmp_ok(scalar(keys %peaks), '>=', $clients, "$protocol: the memory of every client is known");
		cmp_ok($most, '<=', $copy + OWN_KB, "$protocol: it is at most that of a copy and a bit");
		note "$protocol: a client had at most $most kB of its own, a filter is $copy kB";
	}
}

$session->quit;
stayed_alive($node);
$node->stop;
done_testing();
