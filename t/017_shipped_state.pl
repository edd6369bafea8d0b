# What a worker ships as its state of bloom_agg is read with care: damaged bytes are
# an error, or make a filter that is whole.
use strict;
use warnings;
no warnings 'portable';

use FindBin;
use lib "$FindBin::RealBin/lib";

use IPC::Run ();
use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $seed = 1986;
srand($seed);
sub pick { return $_[ int(rand(@_)) ] }

# A library of two functions; undef if it can't be built.
sub build_library
{
	my $library = PostgreSQL::Test::Utils::tempdir . '/shipped_state.so';
	my ($include, $log) = ('', '');
	return undef
	  if !IPC::Run::run([ 'pg_config', '--includedir-server' ], '>', \$include);
	chomp $include;
	return $library
	  if IPC::Run::run([ $ENV{CC} // 'cc', '-shared', '-fPIC', "-I$include", '-o', $library,
			"$FindBin::RealBin/lib/shipped_state.c" ], '>&', \$log);
	note $log;
	return undef;
}

my $library = build_library();
plan skip_all => 'a library of C functions can\'t be built here' if !defined $library;

# All rows go to workers: reading and sending them is made to look dear, and the leader takes no part.
my $node = new_node('shipped_state', conf => <<'EOC');
max_worker_processes = 16
max_parallel_workers = 16
cpu_tuple_cost = 10
parallel_setup_cost = 0
parallel_tuple_cost = 1000
min_parallel_table_scan_size = 0
max_parallel_workers_per_gather = 2
parallel_leader_participation = off
statement_timeout = '120s'
log_statement = none
log_min_error_statement = panic
log_min_duration_statement = -1
EOC
my $session = session($node);
$session->query(<<"EOC");
CREATE FUNCTION take_state(internal, bytea) RETURNS internal AS '$library' LANGUAGE C PARALLEL SAFE;
CREATE FUNCTION ship_state(internal) RETURNS bytea AS '$library' LANGUAGE C STRICT PARALLEL SAFE;
CREATE AGGREGATE shipped(bytea) (SFUNC = take_state, STYPE = internal, SERIALFUNC = ship_state,
	DESERIALFUNC = bloom_agg_deserialize, COMBINEFUNC = bloom_agg_combine,
	FINALFUNC = bloom_agg_finalfn, PARALLEL = SAFE);
CREATE TABLE states (id int, bytes bytea) WITH (parallel_workers = 2);
EOC

# A state as src/pg/agg_state.c ships it: kind, type of key, part, parts, n, p, seed.
use constant { LIST => 1, FILTER => 2, INTEGER => 1 };

sub state
{
	my ($kind, $part, $parts, $n, $p, $key_seed, $payload) = @_;
	return pack('CCvVQ<d<Q<', $kind, INTEGER, $part, $parts, $n, $p, $key_seed) . $payload;
}

sub filter
{
	my ($arguments) = @_;
	return pack 'H*', $session->query("SELECT encode(bloom_agg($arguments)::bytea, 'hex') FROM generate_series(1, 30) AS k");
}

my $hashes = pack 'Q<*', split /\n/, $session->query(
	'SELECT (bloom_hash(k)::numeric + 18446744073709551616) % 18446744073709551616 FROM generate_series(1, 30) AS k');
my @sound = (
	[ state(LIST, 0, 1, 0, 0.01, 0, $hashes), filter('k') ],
	[ state(LIST, 0, 1, 1000, 0.01, 0, $hashes), filter('k, 1000') ],
	[ state(FILTER, 0, 1, 1000, 0.01, 0, substr(filter('k, 1000'), 64)), filter('k, 1000') ]);

# What the leader makes of each of these states: the error's SQLSTATE, or the text of
# a filter.  XX000 is what PostgreSQL's own errors would have.
sub ship
{
	my (@states) = @_;
	my $rows = join ",\n", map { "($_, '\\x" . unpack('H*', $states[$_]) . "')" } 0 .. $#states;
	$session->query("TRUNCATE states; INSERT INTO states VALUES $rows");
	return map
	{
		my ($out, $error) = $session->try("SELECT shipped(bytes) FROM states WHERE id = $_");
		$error || $out;
	} 0 .. $#states;
}

like($session->query('EXPLAIN SELECT shipped(bytes) FROM states WHERE id = 0'), qr/Partial Aggregate/,
	'workers ship states');
my @answers = ship(map { $_->[0] } @sound);
foreach my $i (0 .. $#sound)
{
	my $hex = unpack 'H*', $sound[$i][1];
	is($session->query("SELECT '$answers[$i]'::bloomfilter = '\\x$hex'::bytea::bloomfilter"), 't',
		"a sound state $i makes the filter that bloom_agg makes");
}

my @edges = (0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffffffff, ~0, 0x3ff0000000000000, 0x7ff8000000000000, 0xfff0000000000000);

# A state with some damage, most of it in its first 32 bytes.
sub damaged
{
	my ($bytes) = @_;
	foreach (1 .. pick(1, 1, 2))
	{
		my $length = length $bytes or return $bytes;
		my $at = int rand(rand() < 0.7 && $length > 32 ? 32 : $length);
		my $how = int rand 5;
		if    ($how == 0) { vec($bytes, $at * 8 + int(rand(8)), 1) ^= 1 }
		elsif ($how == 1) { $bytes = substr($bytes, 0, $at) }
		elsif ($how == 2) { $bytes .= chr(int(rand(256))) x pick(1, 7, 8, 64) }
		else
		{
			my ($format, $size) = @{ pick([ 'C', 1 ], [ 'v', 2 ], [ 'V', 4 ], [ 'Q<', 8 ]) };
			$at -= $at % $size;
			substr($bytes, $at, $size) = pack($format, pick(@edges) & (~0 >> (64 - 8 * $size)))
			  if $at + $size <= $length;
		}
	}
	return $bytes;
}

my ($tried, $made, @problems) = (0, 0);
while ($tried < rounds(1000, 50_000))
{
	my @states = map { damaged(pick(@sound)->[0]) } 1 .. 250;
	my @got = ship(@states);
	foreach my $i (0 .. $#states)
	{
		next if $got[$i] eq '' || $got[$i] =~ /^(22|54|0A)\w{3}$/;
		my $verdict = $got[$i];
		$verdict = $session->state_of("SELECT '$got[$i]'::bloomfilter") if length $got[$i] > 5;
		$made++ if $verdict eq '';
		push @problems, "$verdict of " . unpack('H*', substr($states[$i], 0, 96)) if $verdict ne '';
	}
	$tried += @states;
}
is(join("\n", @problems), '', "$tried damaged states, seed $seed: an error or a whole filter");
cmp_ok($made, '>', 0, "$made of them made a filter after all");

$session->quit;
stayed_alive($node);
$node->stop;
done_testing();
