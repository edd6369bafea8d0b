# Followers.pm
#	  Three states of one list on a web server, and hosts that follow it, many at once: first
#	  a whole file, then a step, then a new epoch.
package Followers;

use strict;
use warnings;

use CommandLine;
use Exporter qw(import);
use Hosts;
use Readers;
use Server;
use Test::More;
use Time::HiRes qw(stat);

our @EXPORT = qw(make_states newest bits_at new_host name_of follow has_state);

my (%newest, %bits, %begun, $url, $follower);
my $hosts = 0;
my $here;

sub make_state
{
	my ($dsn, $name, @keys) = @_;
	is((run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/now'))[0], 0, "the state $name is exported");
	system('cp', '-r', 'www/now', "www/$name");
	$newest{$name} = manifest($name)->{content}[0];
	came_with($newest{$name}, @keys);
	is((run('', 'pull', '--url', "$url/$name", '--allow-http', '--out', "$name.bloom"))[0], 0, 'and pulled');
	$bits{$name} = bits_of("$name.bloom");
	return;
}

# Exports them, of an index that is made for them; hosts follow by this program.
sub make_states
{
	my ($dsn, $address, $program) = @_;
	($url, $follower) = ($address, $program);
	chomp($here = `pwd`);
	sql('SET search_path = public, ext; CREATE TABLE users (id bigint); CREATE INDEX users_filter ON users USING bloomfilter (id) WITH (n = 5000)');
	sql('INSERT INTO users SELECT generate_series(1, 300)');
	make_state($dsn, 'first', 1 .. 300);
	sql('INSERT INTO users SELECT generate_series(1001, 1100)');
	make_state($dsn, 'step', 1001 .. 1100);
	sql('INSERT INTO users SELECT generate_series(2001, 2100); REINDEX INDEX users_filter');
	make_state($dsn, 'epoch', 2001 .. 2100);
	cmp_ok(manifest('epoch')->{epoch}[0], '>', manifest('step')->{epoch}[0], 'REINDEX is a new epoch');
	return;
}

# The serial of a state, and its bits.
sub newest { my ($state) = @_; return $newest{$state}; }
sub bits_at { my ($state) = @_; return $bits{$state}; }

# The file of a new host, in a folder of its own.
sub new_host
{
	my ($parent) = @_;
	my $folder = defined $parent ? "$parent/host" . ++$hosts : "$here/host" . ++$hosts;
	mkdir $folder or die "$folder: $!";
	return "$folder/u.bloom";
}

sub name_of { my ($file) = @_; return $file =~ m{(host\d+)/} ? $1 : die $file; }

# Which writing of a file it is; clocks may step.
sub written { my ($file) = @_; return join ' ', (stat $file)[1, 9, 10]; }

# Follows a state, by a tracer's command line if there is one.
sub follow
{
	my ($state, $file, @tracer) = @_;
	$begun{$file} = written($file);
	begin(name_of($file), @tracer, $follower, 'pull', '--url', "$url/$state", '--allow-http', '--out', $file, '--follow', '--every', '1', '--quiet');
	return;
}

# Since it was begun it has looked, and has the state.
sub has_state
{
	my ($state, $file) = @_;
	return working_serial($file) == $newest{$state} && written($file) ne $begun{$file};
}

1;
