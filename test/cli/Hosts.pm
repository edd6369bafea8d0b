# Hosts.pm
#	  What the tests of export and pull share: children, a web server over the folder www, on
#	  loopback, and what a folder and a host's file say.
package Hosts;

use CommandLine;
use Cwd qw(abs_path);
use Digest::SHA;
use Exporter qw(import);
use IO::Socket::INET;
use POSIX qw(WNOHANG);

our @EXPORT = qw(free_port begin finish process_of is_alive begin_nginx start_nginx begin_web by_url manifest torn told status_word page_of lacks count_of has page_serial exporter_says promised promised_by_dsn);

$CommandLine::asked = abs_path($ENV{BLOOMFILTER_PLAIN}) if $ENV{BLOOMFILTER_PLAIN};

my (%children, %ended, $web);

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

# By what is in nginx.conf already, too.
sub start_nginx
{
	my ($nginx) = grep { -x } '/usr/sbin/nginx', '/usr/bin/nginx';
	plan skip_all => 'nginx is not installed' if !defined $nginx;
	my $here = abs_path('.');
	unlink 'nginx.pid';
	return begin('nginx', $nginx, '-p', $here, '-e', "$here/nginx.log", '-c', "$here/nginx.conf");
}

# The web server's address; lines are more of its configuration.  Without it the test is skipped.
sub begin_nginx
{
	my ($port, @lines) = @_;
	my $here = abs_path('.');
	mkdir 'www';
	spew('nginx.conf', join("\n", $> == 0 ? 'user root;' : '', 'daemon off;', "pid $here/nginx.pid;",
		'events { worker_connections 256; }',
		"http { log_format connections '\$connection \$request'; access_log $here/access.log; access_log $here/connections.log connections; client_body_temp_path $here/b; proxy_temp_path $here/p; fastcgi_temp_path $here/f; uwsgi_temp_path $here/u; scgi_temp_path $here/s;",
		"server { listen 127.0.0.1:$port; root $here/www; location ~ /\\. { deny all; }", @lines, '} }', ''));
	start_nginx();
	ok(wait_for(20, sub { defined IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port) }), 'nginx answers');
	return $web = "http://127.0.0.1:$port";
}

# A web server of the test's own: its address.  A function gives what to answer to a path, from which
# byte on: a status, headers, and the content, of which so many bytes are sent, or all of them.  Instead
# of the content it may be a function that writes it.
sub begin_web
{
	my ($answer) = @_;
	my $door = IO::Socket::INET->new(Listen => 20, LocalAddr => '127.0.0.1') or die "socket: $!";
	my $child = fork() // die "fork: $!";
	if ($child != 0)
	{
		$children{web} = $child;
		my $address = 'http://127.0.0.1:' . $door->sockport;
		$web //= $address;
		return $address;
	}
	local $SIG{PIPE} = 'IGNORE';
	while (my $client = $door->accept)
	{
		my ($path, $from) = ('', 0);
		while (defined(my $line = <$client>))
		{
			last if $line =~ /^\r?\n/;
			$path = $1 if $line =~ m{^GET (\S+)};
			$from = $1 if $line =~ /^Range: bytes=(\d+)-/;
		}
		my ($status, $headers, $content, $most) = $answer->($path, $from);
		push @$headers, 'Connection: close', ref $content ? () : 'Content-Length: ' . length $content;
		print $client join("\r\n", "HTTP/1.1 $status", @$headers, '', ''), ref $content ? '' : substr $content, 0, $most // length $content;
		$content->($client) if ref $content;
		close $client;
	}
	exit 0;
}

# One look at a folder of the web server.
sub by_url { my ($folder, $file, @options) = @_; return run('', 'pull', '--url', "$web/$folder", '--allow-http', '--out', $file, @options); }

# A folder's manifest: the values of each word.
sub manifest
{
	my ($folder) = @_;
	my %words;
	push @{ $words{ (split / /, $_, 2)[0] } }, (split / /, $_, 2)[1] foreach split /\n/, slurp("www/$folder/manifest");
	return \%words;
}

# What a folder's manifest names and isn't there as it says.
sub torn
{
	my ($folder) = @_;
	return '' if !-e "www/$folder/manifest";
	my @torn;
	foreach my $line (split /\n/, slurp("www/$folder/manifest"))
	{
		my ($word, @values) = split / /, $line;
		next if $word !~ /^(whole|patch|change)$/;
		my ($length, $digest) = @values[ -2, -1 ];
		my ($file) = glob "www/$folder/$digest.*";
		push @torn, $line if !defined $file || -s $file != $length || Digest::SHA::sha256_hex(slurp($file)) ne $digest;
	}
	return join "\n", @torn;
}

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
	my %at = (born => 80, changes => 512, serial => 520, true_at => 536, mark => 544, superseded => 600, saved => 1024);
	my %words = map { ($_ => scalar unpack 'Q<', substr $page, $at{$_}) } keys %at;
	return \%words;
}

# How many of these integers a file denies, or "none" if it can't be asked.
sub lacks
{
	my ($file, @keys) = @_;
	my ($status, $out) = ask(join('', map { "$_\n" } @keys), 'contains', '--count', '-t', 'integer', $file);
	return $out =~ /^(\d+)$/ ? @keys - $1 : 'none';
}

sub count_of { my ($file, @keys) = @_; my $lacks = lacks($file, @keys); return $lacks eq 'none' ? -1 : @keys - $lacks; }
sub has { my ($file, @keys) = @_; return lacks($file, @keys) eq '0'; }

# The serial of a file's page, 0 where there is none: for who waits, before a program is asked.
sub page_serial
{
	my ($file) = @_;
	my $word = '';
	if (open my $page, '<:raw', $file) { seek $page, 520, 0; read $page, $word, 8; }
	return length $word == 8 ? unpack 'Q<', $word : 0;
}

# A value that an exporter tells in its folder, '' where there is none; status shows it.
sub exporter_says
{
	my ($folder, $name) = @_;
	my ($kind, $value) = -e "www/$folder/.status" ? slurp("www/$folder/.status") =~ /^$name (\w) (.*)$/m : ();
	return !defined $value || ($kind eq 'm' && $value eq '0') ? '' : $value;
}

# What is promised: once the folder says that all before a time is in it, and a host tells
# that serial, the host has these keys.  Gives how many it lacks, or why it can't be said.
sub promised
{
	my ($folder, $file, $time, @keys) = @_;
	my $serial;
	wait_for(90, sub { my $m = manifest($folder); $serial = $m->{content}[0]; ($m->{true_at}[0] // 0) >= $time }) or return 'true_at does not come';
	wait_for(90, sub { page_serial($file) >= $serial && (told($file)->{serial} // 0) >= $serial }) or return "the host does not tell the serial";
	return lacks($file, @keys);
}

# The same of a file that is pulled without a folder between: once its page says so.
sub promised_by_dsn
{
	my ($file, $time, @keys) = @_;
	wait_for(90, sub { -e $file && page_of($file)->{true_at} >= $time }) or return 'true_at does not come';
	return lacks($file, @keys);
}

1;
