# Lists.pm
#	  States of one list on a web server without a database, and hosts that follow it.
package Lists;

use strict;
use warnings;

use CommandLine;
use Exporter qw(import);
use File::Basename qw(dirname);
use Cwd qw(abs_path);
use Hosts;
use Test::More;
use Time::HiRes qw(time sleep);

our @EXPORT = qw(make_list serve serial_of pull_once follow soon lacks page_of told status_word count_of);

my $here = dirname(abs_path(__FILE__));
my $maker = $ENV{BLOOMFILTER_MAKE_LIST} || "$here/../../build/cli-test/make_list";
my ($url, %base);

# Makes www/NAME/0 and so on, for 5000 keys or ROOM; the first serial is so many seconds ago.
sub make_list
{
	my ($address, $name, $ago, @states) = @_;
	$url = $address;
	$base{$name} = int((time - $ago) * 1e6);
	system($maker, "www/$name", $base{$name}, $ENV{ROOM} // 5000, @states) == 0 or die "make_list: $?";
	return;
}

sub serial_of { my ($name, $i) = @_; return $base{$name} + 1000000 * $i; }

# From now on www/now is this state: files first.
sub serve
{
	my ($name, $i) = @_;
	mkdir 'www/now';
	system("cp www/$name/$i/*.bloom www/now/ && { cp www/$name/$i/*.patch www/$name/*/*.changes www/now/ 2>/dev/null; cp www/$name/$i/manifest www/now/.new && mv www/now/.new www/now/manifest; }") == 0 or die 'serve';
	return;
}

sub pull_once { my ($file, @options) = @_; return run('', 'pull', '--url', "$url/now", '--allow-http', '--out', $file, @options); }

# A follower, by a tracer's command line if there is one.
sub follow
{
	my ($name, $file, @tracer) = @_;
	begin($name, @tracer, program(), 'pull', '--url', "$url/now", '--allow-http', '--out', $file, '--follow', '--every', '0.2', '--quiet');
	return;
}

# Waits until a condition holds.
sub soon
{
	my ($seconds, $condition) = @_;
	my $until = time + $seconds;
	while (time < $until)
	{
		my $result = $condition->();
		return $result if $result;
		sleep 0.1;
	}
	return $condition->();
}

# How many of these integers a file denies, or "none" if it can't be asked.
sub lacks
{
	my ($file, @keys) = @_;
	my ($status, $out) = ask(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file);
	return $out =~ /^(\d+)$/ ? @keys - $1 : 'none';
}

sub count_of { my ($file, @keys) = @_; my $lacks = lacks($file, @keys); return $lacks eq 'none' ? -1 : @keys - $lacks; }

# Values of a file's status: a hash, and the exit status.
sub told
{
	my ($file) = @_;
	my ($status, $out) = ask('', 'status', $file);
	my %values = map { /^(\S+)\s+(.*?)( s)?$/ ? ($1, $2) : () } split /\n/, $out;
	$values{exit} = $status;
	return \%values;
}

sub status_word { my ($file) = @_; my $told = told($file); return $told->{exit} eq '0' ? '' : $told->{wrong} // ''; }

# Words of the first page, by their offsets.
sub page_of
{
	my ($file) = @_;
	my $page = substr slurp($file), 0, 4096;
	return { changes => unpack('Q<', substr $page, 512), serial => unpack('Q<', substr $page, 520), saved => unpack('Q<', substr $page, 1024),
		born => unpack('Q<', substr $page, 80), superseded => unpack('Q<', substr $page, 600), mark => unpack('Q<', substr $page, 544) };
}

1;
