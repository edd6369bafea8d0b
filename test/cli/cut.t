# cut.t
#	  bloomfilter pull over a network that is cut, byte by byte.
#
# A proxy ends the connection after so many bytes, from the first of the handshake
# to the last of the last answer.  The server is that of pull.t; what it sends
# is told by SQL alone, so that the extension is not needed.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Proxy;
use Server;
use Test::More;

my $dsn = server_dsn();
my ($folder) = $dsn =~ /host=(\/\S+)/;
my $port = $dsn =~ /port=(\d+)/ ? $1 : $ENV{PGPORT} // 5432;
plan skip_all => 'the server of BLOOMFILTER_TEST_DSN is not on a Unix socket'
  if !defined $folder || !-S "$folder/.s.PGSQL.$port";

my $seed = 5432;
srand($seed);
my $schema = 'bloomfilter_cli_cut';
my $direct = scope_to($schema);
my $proxy = Proxy->new("$folder/.s.PGSQL.$port");
my $cuttable = $direct =~ s/port=\d+//r =~ s/host=\S+/$proxy->dsn/er;

# All but the status, which tells of times.
sub files { return { map { ($_ => slurp($_)) } grep { !/^\.(?:std|sql|\.?$)|\.status$/ } glob('* .*') }; }

# Names of the files that are not in both, or are not the same.
sub differences
{
	my ($one, $other) = @_;
	return join ' ', grep { !exists $one->{$_} || !exists $other->{$_} || $one->{$_} ne $other->{$_} }
	  sort keys %{ { %$one, %$other } };
}

# Two days, each a filter of more than one chunk and a set of parts.
build($_, [ $_ eq 'old' ? 2 : 1, 3 .. 1000 ], '-n', '1100000') foreach 'old', 'new';
sql(qq{
DROP SCHEMA IF EXISTS $schema CASCADE;
CREATE SCHEMA $schema;
CREATE FUNCTION bloom_chunk(filter bytea, "offset" bigint, length int) RETURNS bytea
	LANGUAGE sql IMMUTABLE AS 'SELECT substr(filter, ("offset" + 1)::int, length)';
CREATE TABLE filters (day text, f bytea);
CREATE TABLE parts (day text, f bytea);
});
foreach my $day ('old', 'new')
{
	build('set', [ $day eq 'old' ? 2 : 1, 3 .. 1000 ], '-n', '100000', '--parts', 3);
	sql("INSERT INTO filters VALUES ('$day', " . bytea($day) . ')');
	sql('INSERT INTO parts VALUES ' . join ', ', map { "('$day', " . bytea($_) . ')' } sort glob 'set.0*');
	unlink 'set', glob 'set.0*';
}
unlink 'old', 'new';

sub pull
{
	my ($through, $query, @options) = @_;
	return run('', 'pull', '--dsn', $through, '--query', $query, '--out', 'out', @options);
}

# Pulls over a network that is cut after each of many numbers of bytes.
sub cut_everywhere
{
	my ($kind, $query, @options) = @_;
	my ($old, $new) = map { sprintf $query, $_ } 'old', 'new';
	my %total;

	# How long a whole pull is, and what it makes.
	die if (pull($direct, $old, grep { $_ eq '--parts' } @options))[0];
	my $before = files();
	$proxy->cut('');
	is((pull($cuttable, $new, @options))[2], '', "$kind: over a whole network");
	wait_for(60, sub { @total{ 'server', 'client' } = $proxy->passed; defined $total{client} });
	my $after = files();
	isnt(differences($before, $after), '', "$kind: the file is new");
	unlink glob 'out*';
	spew($_, $before->{$_}) foreach keys %$before;

	foreach my $side ('server', 'client')
	{
		# All of the handshake, the end, and what is drawn between.
		my $last = $total{$side} - 1;
		my @places = grep { $_ >= 0 && $_ <= $last }
		  (map { $_ * 13 } 0 .. 40), (map { $last - $_ * 3 } 0 .. 20), map { int rand $last } 1 .. 20;
		my (@silent, @left, @crashed);
		my $failed = 0;
		foreach my $place (@places)
		{
			$proxy->cut("$side $place");
			my ($status, undef, $err) = pull($cuttable, $new, @options);
			my $all_came = $status eq '0';
			my $now = files();
			push @crashed, "$place: $status" if $status !~ /^[02]$/;
			push @silent, "$place: $err"
			  if !$all_came && $err !~ /\A(?:bloomfilter: (?:cannot connect|the server refused): [^\n]+\n)+\z/;
			push @left, "$place: $_"
			  foreach grep { $_ ne '' } differences($now, $all_came ? $after : $before);
			$failed += !$all_came;
			next if !$all_came;
			unlink glob 'out*';
			spew($_, $before->{$_}) foreach keys %$before;
		}
		my $name = "$kind: $total{$side} bytes of the $side, cut at " . @places . ' places';
		is(join("\n", @crashed), '', "$name: never worse than an error");
		is(join("\n", @silent), '', "$name: which says why");
		is(join("\n", @left), '', "$name: and leaves all files as before");
		cmp_ok($failed, '>', @places / 2, "$name: $failed pulls failed");
	}
	unlink glob 'out*';
	return;
}

cut_everywhere('a filter', "SELECT f FROM filters WHERE day = '%s'");
cut_everywhere('a set', "SELECT f FROM parts WHERE day = '%s'", '--parts');

# With --listen the pull comes back with the network, and misses nothing.
sql("CREATE TABLE current AS SELECT f FROM filters WHERE day = 'old'");
my $current = 'SELECT f FROM current';
is((pull($direct, $current))[0], 0, 'the old filter');
my $old = slurp('out');
sql("UPDATE current SET f = (SELECT f FROM filters WHERE day = 'new')");
foreach my $place (0, 100, 900, 400_000)
{
	spew('out', $old);
	$proxy->cut("server $place", "client $place");
	my $pid = fork() // die "fork: $!";
	if ($pid == 0)
	{
		open STDOUT, '>', '.stdlog' or die;
		open STDERR, '>&', \*STDOUT or die;
		exec program(), 'pull', '--dsn', $cuttable, '--query', $current, '--out', 'out', '--listen', 'days';
	}
	ok(wait_for(60, sub { slurp('out') ne $old }), "--listen, cut at $place: pulls when the network is back");
	like(slurp('.stdlog'), qr/^\S+Z bloomfilter: (?:cannot connect|the server refused)/, "--listen, cut at $place: said why it did not before");
	kill 'TERM', $pid;
	waitpid $pid, 0;
	is($?, 0, "--listen, cut at $place: ends cleanly");
	is(join(' ', sort keys %{ files() }), 'out', "--listen, cut at $place: no other file is left");
}

sql("DROP SCHEMA $schema CASCADE");
done_testing();
