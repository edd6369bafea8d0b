# What a worker ships as its state of bloom_agg is read with care: sound states make
# the filter of all their keys, damaged bytes and states that do not belong together are
# an error, or make a filter that is whole.
use BloomTest;
no warnings 'portable';
use MIME::Base64;

my $seed = 1986;
srand($seed);
sub pick { return $_[ int(rand(@_)) ] }

my $library = build_library('shipped_state');
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
CREATE FUNCTION merge_state(internal, bytea) RETURNS internal AS '$library' LANGUAGE C;
CREATE AGGREGATE merged(bytea) (SFUNC = merge_state, STYPE = internal, FINALFUNC = bloom_agg_finalfn);
CREATE TABLE states (id int, bytes bytea) WITH (parallel_workers = 2);
EOC

# Kinds of state and types of key: their numbers, and a key of each type.
use constant { LIST => 1, FILTER => 2 };
my %types = (integer => 1, text => 2, uuid => 4);
my %keys = (integer => 'k', text => "'key ' || k", uuid => 'md5(k::text)::uuid');

# What bloom_agg is told, where a test does not say otherwise.
my %usual = (type => 'integer', part => 0, parts => 1, n => 1000, p => 0.01, seed => 0);

# A state as src/pg/agg_state.c ships it: kind, part, parts, n, p, seed, type of key.
sub state
{
	my ($kind, $payload, %told) = (@_[ 0, 1 ], %usual, @_[ 2 .. $#_ ]);
	return pack('CxvVQ<d<Q<V', $kind, @told{qw(part parts n p seed)}, $types{ $told{type} }) . $payload;
}

# The keys of one part from one number to another.
sub keys_of
{
	my ($first, $last, %told) = @_;
	return "FROM generate_series($first, $last) AS k "
	  . "WHERE bloom_part($keys{$told{type}}, $told{parts}, $told{seed}) = $told{part}";
}

# The filter that bloom_agg makes of them.
sub filter
{
	my ($first, $last, %told) = (@_[ 0, 1 ], %usual, @_[ 2 .. $#_ ]);
	my $call = $told{parts} == 1
	  ? "bloom_agg($keys{$told{type}}, nullif($told{n}, 0)::bigint, $told{p}, $told{seed})"
	  : "bloom_part_agg($keys{$told{type}}, $told{parts}, $told{n}, $told{p}, $told{seed})";
	return pack 'H*',
	  $session->query("SELECT encode($call\::bytea, 'hex') " . keys_of($first, $last, %told));
}

# The states that a worker may ship of them.
sub list_state
{
	my ($first, $last, %told) = (@_[ 0, 1 ], %usual, @_[ 2 .. $#_ ]);
	my @hashes = unpack 'Q*', pack 'q*', split /\n/,
	  $session->query("SELECT bloom_hash($keys{$told{type}}, $told{seed}) " . keys_of($first, $last, %told));
	return state(LIST, pack('Q*', sort { $a <=> $b } @hashes), %told);
}

sub filter_state
{
	my ($first, $last, %told) = @_;
	return state(FILTER, substr(filter($first, $last, %told), 64), %told);
}

my @told = (
	[],
	[ seed => -7 ],
	[ type => 'text' ],
	[ type => 'uuid', seed => 5 ],
	[ part => 3, parts => 8 ],
	[ type => 'text', part => 3, parts => 8, seed => 5 ],
	[ type => 'uuid', part => 3, parts => 8 ]);
my @sound = (
	[ list_state(1, 30, n => 0), filter(1, 30, n => 0) ],
	map { [ list_state(1, 60, @$_), filter(1, 60, @$_) ], [ filter_state(1, 60, @$_), filter(1, 60, @$_) ] } @told);

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

is($answers[$_], encode_base64($sound[$_][1], ''), "a sound state $_ makes the filter that bloom_agg makes")
  foreach 0 .. $#sound;

# What becomes of some states in one group, as above.  That their keys differ can't be
# brought about by SQL and is an internal error.
sub merge
{
	my (@states) = @_;
	my $rows = join ', ', map { "($_, '\\x" . unpack('H*', $states[$_]) . "'::bytea)" } 0 .. $#states;
	my ($out, $error, $messages) =
	  $session->try("SELECT merged(bytes ORDER BY i) FROM (VALUES $rows) AS v (i, bytes)");
	return 'different keys' if $messages =~ /ERROR:  XX000: bloom_agg states of different keys$/m;
	return $error || $out;
}

# Keys that overlap, in states of each kind.
foreach my $told (@told, [ n => 0 ])
{
	my $name = join(' ', @$told) || 'as usual';
	my %whole = (%usual, @$told);
	my @first = list_state(1, 300, @$told);
	my @second = list_state(200, 600, @$told);
	if ($whole{n} > 0)
	{
		push @first, filter_state(1, 300, @$told);
		push @second, filter_state(200, 600, @$told);
	}
	my $few = encode_base64(filter(1, 300, @$told), '');
	my $all = encode_base64(filter(1, 600, @$told), '');
	foreach my $i (0 .. $#first)
	{
		is(merge($first[$i]), $few, "$name: state $i alone");
		is(merge($first[$i], $second[$_]), $all, "$name: states $i and $_ make the whole")
		  foreach 0 .. $#second;
	}
}

# States that do not belong together.
foreach my $differs (
	[ 'different keys', type => 'text' ],
	[ 'different keys', part => 2 ],
	[ '22023', parts => 9 ],
	[ '22023', n => 2000 ],
	[ '22023', n => 0 ],
	[ '22023', p => 0.02 ],
	[ '22023', seed => 1 ])
{
	my ($expected, $what, $value) = @$differs;
	my %one = (%usual, part => 3, parts => 8);
	my %other = (%one, $what => $value);
	my @one = (list_state(1, 300, %one), filter_state(1, 300, %one));
	my @other = $other{n} == 0
	  ? list_state(1, 300, %one, n => 0)
	  : (list_state(1, 300, %other), filter_state(1, 300, %other));
	foreach my $i (0 .. $#one)
	{
		foreach my $j (0 .. $#other)
		{
			is(merge($one[$i], $other[$j]), $expected, "states $i and $j that differ in $what");
			is(merge($other[$j], $one[$i]), $expected, "the same in the other order");
		}
	}
}

# Lists that no worker makes.
my %part = (part => 3, parts => 8);
my @hashes = unpack 'Q*', substr(list_state(1, 300, %part), 36);
my ($foreign) = unpack 'Q*', substr(list_state(1, 300, %part, part => 2), 36);
my %lists = (
	'hash of another part' => [ sort { $a <=> $b } @hashes, $foreign ],
	'only a hash of another part' => [$foreign],
	'hash twice' => [ $hashes[0], @hashes ],
	'wrong order' => [ reverse @hashes ]);
foreach my $what (sort keys %lists)
{
	my $state = state(LIST, pack('Q*', @{ $lists{$what} }), %part);
	is(merge($state), '22P03', "a list with $what");
	is(merge(list_state(1, 30, %part), $state), '22P03', "a list with $what after a sound one");
	is((ship($state))[0], '22P03', "a worker's list with $what");
}

# A worker sends the shortest of what it may.  A state's length, by a final function that ships it.
$session->query(<<'EOC');
CREATE AGGREGATE shipped_state(bigint, bigint, double precision)
	(SFUNC = bloom_agg_transfn, STYPE = internal, FINALFUNC = bloom_agg_serialize);
EOC
foreach my $share (400, 4, 1)
{
	my $rows = 1_000_000 / $share;
	my ($kind, $length) = split /\|/, $session->query(
		"SELECT get_byte(s, 0), length(s) FROM (SELECT shipped_state(k, 1000000, 0.01) AS s FROM generate_series(1::bigint, $rows) AS k) AS q");
	is($kind, $share == 400 ? LIST : FILTER, "1/$share of the keys: the kind");
	my $blocks = $session->query('SELECT bytes - 64 FROM bloom_stats(bloom_create(1000000, 0.01))');
	cmp_ok($length, '<=', ($rows * 8 < $blocks ? $rows * 8 : $blocks) + 36, 'is not longer than hashes, nor than blocks');
}

my @edges = (0, 1, 2, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
	0x7fffffffffffffff, ~0, 0x3ff0000000000000, 0x7ff8000000000000, 0xfff0000000000000);

# A state with some damage, most of it in its first 36 bytes.  Not one of a filter that
# would be large and allowed: it shows nothing more.
sub damaged
{
	my ($bytes) = @_;
	while (1)
	{
		my $damaged = damaged_once($bytes);
		my $n = length $damaged < 16 ? 0 : unpack 'x8Q<', $damaged;
		return $damaged if $n < 100_000 || $n > 1 << 40;
	}
}

sub damaged_once
{
	my ($bytes) = @_;
	foreach (1 .. pick(1, 1, 2))
	{
		my $length = length $bytes or return $bytes;
		my $at = int rand(rand() < 0.7 && $length > 36 ? 36 : $length);
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

# The text of what became of damaged states: nothing where that is as it should be.
my ($made, @problems) = (0);
sub judge
{
	my ($got, @states) = @_;
	return if $got eq '' || $got =~ /^(?:(?:22|54|0A)\w{3}|different keys)$/;
	my $verdict = length $got > 5 ? $session->state_of("SELECT '$got'::bloomfilter") : $got;
	$made++ if $verdict eq '';
	push @problems, "$verdict of " . join ', ', map { unpack 'H*', substr($_, 0, 96) } @states
	  if $verdict ne '';
	return;
}

# A damaged state alone, and with a sound one, most of them of the same keys.  Workers are started for the first
# ones alone: what reads a state is the same.
my $tried = rounds(400, 50_000);
foreach my $number (1 .. $tried)
{
	my $alone = damaged(pick(@sound)->[0]);
	judge($number <= 20 ? ship($alone) : merge($alone), $alone);
	my $sound = pick(@sound)->[0];
	my @states = ($sound, damaged(pick($sound, $sound, pick(@sound)->[0])));
	@states = reverse @states if rand() < 0.5;
	judge(merge(@states), @states);
}
is(join("\n", @problems), '', "$tried damaged states and as many pairs, seed $seed: an error or a whole filter");
cmp_ok($made, '>', 0, "$made of them made a filter after all");

finish($node);
