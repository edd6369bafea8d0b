# memory.t
#	  bloomfilter pull fetches in bounded memory, however large the filter is.
#
# Of the files only mappings are held, which the system can drop at any time.  So
# two things are limited: memory of its own, to a constant, and all that is
# resident, to the files that are open and another constant.
#
# BLOOMFILTER_PLAIN is the program without sanitizers, which take memory of their
# own; the server is that of pull.t, without need of the extension.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use Cwd qw(abs_path);
use POSIX qw(WNOHANG);
use Test::More;
use Time::HiRes qw(sleep);

my $plain;
BEGIN { $plain = abs_path($ENV{BLOOMFILTER_PLAIN}) if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use Server;

server_dsn();
plan skip_all => 'no program without sanitizers: set BLOOMFILTER_PLAIN, or run make -C test/cli check-pull'
  if !defined $plain || !-x $plain;
plan skip_all => 'the system does not tell what is resident' if !-r "/proc/$$/status";

# Keys that the filter has room for, bytes of memory of one's own, and bytes of all
# that is no filter: libpq holds a chunk of 1 MiB twice, and brings its libraries.
my $keys = 55_000_000;
my $own = 16 << 20;
my $beside = 24 << 20;

my $schema = 'bloomfilter_cli_memory';
my $scoped = scope_to($schema);

# Fills a table of one bytea with files, without making text of them.
sub load
{
	my ($table, @files) = @_;
	open my $copy, '>:raw', '.copy' or die $!;
	print $copy "PGCOPY\n\xff\r\n\0", pack 'NN', 0, 0;
	foreach my $file (@files)
	{
		print $copy pack('nN', 1, -s $file), slurp($file);
	}
	print $copy pack 'n', 0xffff;
	close $copy or die $!;
	sql("TRUNCATE $table;\n\\copy $table FROM '.copy' (FORMAT binary)\n");
	unlink '.copy';
	return;
}

# The most bytes of a process that were ever resident.
sub high_water
{
	my ($pid) = @_;
	open my $status, '<', "/proc/$pid/status" or return 0;
	return join('', <$status>) =~ /^VmHWM:\s+(\d+) kB/m ? $1 << 10 : 0;
}

# Runs the program with so much memory of its own; gives its status and errors, and
# the most that was resident.
sub run_limited
{
	my ($stdin, @arguments) = @_;
	my $most = 0;
	my $pid = start($stdin, 'sh', '-c', "ulimit -d @{[ $own >> 10 ]} && exec \"\$@\"", 'sh', $plain, @arguments);

	while (waitpid($pid, WNOHANG) == 0)
	{
		# not of this program's copy, before it becomes the other
		my $resident = (readlink("/proc/$pid/exe") // '') eq $plain ? high_water($pid) : 0;
		$most = $resident if $resident > $most;
		sleep 0.002;
	}
	return (ending(), slurp('.stderr'), $most);
}

# Pulls, and compares the files with the bytes that were loaded.
sub pulls
{
	my ($what, $from, $wanted, $mapped, @options) = @_;
	my ($status, $err, $most) = run_limited('', 'pull', '--dsn', $scoped, '--query', $from, '--out', 'out', @options);
	my @pulled = @options ? sort glob 'out.0*' : 'out';

	is("$status$err", '0', "$what: pulled with @{[ $own >> 20 ]} MiB of memory of its own");
	ok(join('', map { slurp($_) } @pulled) eq slurp($wanted), "$what: all of it");
	cmp_ok($most, '<', $mapped + $beside, "$what: bytes resident, beside $mapped of files");
	cmp_ok($most, '>', 1 << 20, "$what: it was measured");
	return;
}

sql(qq{
DROP SCHEMA IF EXISTS $schema CASCADE;
CREATE SCHEMA $schema;
CREATE FUNCTION bloom_chunk(filter bytea, "offset" bigint, length int) RETURNS bytea
	LANGUAGE sql IMMUTABLE AS 'SELECT substr(filter, ("offset" + 1)::int, length)';
CREATE TABLE filters (f bytea);
CREATE TABLE parts (f bytea);
ALTER TABLE filters ALTER f SET STORAGE external;
ALTER TABLE parts ALTER f SET STORAGE external;
});

# The limit is one: what holds a filter in memory breaks it.
my ($status, $err) = run_limited("1\n", 'build', '-t', 'integer', '-n', $keys, 'none');
is($status, 2, 'a filter is not built within the limit');
like($err, qr/out of memory/, 'for want of memory');

build('all', [1], '-n', $keys);
my $size = -s 'all';
cmp_ok($size, '>', 2 * $beside, 'the filter is larger than the limits by far');
load('filters', 'all');
pulls('a filter', 'SELECT f FROM filters', 'all', $size);
build('all', [2], '-n', $keys);
load('filters', 'all');
pulls('a new filter over the old one', 'SELECT f FROM filters', 'all', 2 * $size);
unlink 'out';

build('set', [1], '-n', $keys, '--parts', 4);
my @parts = sort glob 'set.0*';
load('parts', reverse @parts);
system('cat ' . join(' ', map { quotemeta } @parts) . ' > all') == 0 or die;
unlink 'set', @parts;
pulls('a set', 'SELECT f FROM parts', 'all', -s 'all', '--parts');

sql("DROP SCHEMA $schema CASCADE");
done_testing();
