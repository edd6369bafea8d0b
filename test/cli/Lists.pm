# Lists.pm
#	  States of one list on a web server without a database, and hosts that follow it.
package Lists;

use CommandLine;
use Exporter qw(import);
use File::Basename qw(basename dirname);
use File::Copy qw(copy);
use Cwd qw(abs_path);
use Hosts;
use Time::HiRes qw(time);

our @EXPORT = qw(make_list serve serial_of pull_once follow);

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
	foreach my $file (glob("www/$name/$i/*.bloom www/$name/$i/*.patch www/$name/*/*.changes"), "www/$name/$i/manifest")
	{
		copy($file, 'www/now/.new') && rename 'www/now/.new', 'www/now/' . basename($file) or die "$file: $!";
	}
	return;
}

sub pull_once { my ($file, @options) = @_; return by_url('now', $file, @options); }

# A follower, by a tracer's command line if there is one.
sub follow
{
	my ($name, $file, @tracer) = @_;
	begin($name, @tracer, program(), 'pull', '--url', "$url/now", '--allow-http', '--out', $file, '--follow', '--every', '0.2', '--quiet');
	return;
}

1;
