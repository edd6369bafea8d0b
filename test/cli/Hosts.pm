# Hosts.pm
#	  What the tests of export and pull --url share: children, and a stock web server over
#	  the folder www, on loopback.
package Hosts;

use strict;
use warnings;

use CommandLine;
use Exporter qw(import);
use IO::Socket::INET;
use POSIX qw(WNOHANG);
use Server;
use Test::More;

our @EXPORT = qw(free_port begin finish process_of is_alive begin_nginx manifest has exporter_says promised promised_by_dsn);

my (%children, %ended);

sub free_port
{
	my $socket = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die "socket: $!";
	return $socket->sockport;
}

# Starts a program whose output goes to .NAME.log.
sub begin
{
	my ($name, @command) = @_;
	my $child = fork() // die "fork: $!";
	if ($child == 0)
	{
		open STDIN, '<', '/dev/null' or die;
		open STDOUT, '>>', ".$name.log" or die;
		open STDERR, '>&', \*STDOUT or die;
		exec @command or die "exec: $!";
	}
	delete $ended{$name};
	$children{$name} = $child;
	return;
}

# Ends it by a signal, if it hasn't ended; how it ended.
sub finish
{
	my ($name, $signal) = @_;
	return delete $ended{$name} if exists $ended{$name};
	my $child = delete $children{$name} // return '';
	kill $signal, $child;
	waitpid $child, 0;
	return ending();
}

sub process_of { my ($name) = @_; return $children{$name}; }

# Whether it has not ended yet.
sub is_alive
{
	my ($name) = @_;
	my $child = $children{$name} // return 0;
	return 1 if waitpid($child, WNOHANG) == 0;
	$ended{$name} = ending();
	delete $children{$name};
	return 0;
}

# A child whose program can't be run ends by itself, without the others.
my $owner = $$;
END
{
	my $status = $?;
	finish($_, $_ eq 'nginx' ? 'TERM' : 'KILL') foreach $owner == $$ ? keys %children : ();
	$? = $status;
}

# The web server's address; lines are more of its configuration.  Without it the test is skipped.
sub begin_nginx
{
	my ($port, @lines) = @_;
	my $here = `pwd`;
	chomp $here;
	my ($nginx) = grep { -x } '/usr/sbin/nginx', '/usr/bin/nginx';
	plan skip_all => 'nginx is not installed' if !defined $nginx;
	mkdir 'www';
	spew('nginx.conf', join("\n", $> == 0 ? 'user root;' : '', 'daemon off;', "pid $here/nginx.pid;",
		'events { worker_connections 256; }',
		"http { log_format connections '\$connection \$request'; access_log $here/access.log; access_log $here/connections.log connections; client_body_temp_path $here/b; proxy_temp_path $here/p; fastcgi_temp_path $here/f; uwsgi_temp_path $here/u; scgi_temp_path $here/s;",
		"server { listen 127.0.0.1:$port; root $here/www; location ~ /\\. { deny all; }", @lines, '} }', ''));
	unlink 'nginx.pid';
	begin('nginx', $nginx, '-p', $here, '-e', "$here/nginx.log", '-c', "$here/nginx.conf");
	ok(wait_for(20, sub { defined IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) }), 'nginx answers');
	return "http://127.0.0.1:$port";
}

# A folder's manifest: the values of each word.
sub manifest
{
	my ($folder) = @_;
	my %words;
	push @{ $words{ (split / /, $_, 2)[0] } }, (split / /, $_, 2)[1] foreach split /\n/, slurp("www/$folder/manifest");
	return \%words;
}

# Whether a file has all of these integers.
sub has { my ($file, @keys) = @_; return (ask(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file))[1] eq @keys . "\n"; }

# A value that status tells of a folder, '' where there is none.
sub exporter_says { my ($folder, $name) = @_; return (ask('', 'status', '--json', "www/$folder"))[1] =~ /"$name": "?([^",}]*)/ ? $1 : ''; }

# What is promised: once the folder says that all before a time is in it, and a host tells
# that serial, the host has these keys.  Gives how many it lacks, or why it can't be said.
sub promised
{
	my ($folder, $file, $time, @keys) = @_;
	my $serial;
	wait_for(90, sub { my $m = manifest($folder); $serial = $m->{content}[0]; ($m->{true_at}[0] // 0) >= $time }) or return 'true_at does not come';
	wait_for(90, sub { ((ask('', 'status', $file))[1] =~ /^serial\s+(\d+)$/m ? $1 : 0) >= $serial }) or return "the host does not tell the serial";
	return lacking($file, @keys);
}

# How many of these a file lacks.
sub lacking { my ($file, @keys) = @_; return @keys - (ask(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file))[1]; }

# The same of a file that is pulled without a folder between: once its page says so.
sub promised_by_dsn
{
	my ($file, $time, @keys) = @_;
	wait_for(90, sub { -e $file && unpack('Q<', substr slurp($file), 536, 8) >= $time }) or return 'true_at does not come';
	return lacking($file, @keys);
}

1;
