# url_tls.t
#	  bloomfilter pull --url over https: which certificates are trusted, where redirections
#	  lead, and to whom secrets are told.
#
# Needs a server with the extension, nginx with TLS, and openssl for the certificates.

use Cwd qw(abs_path);
use CommandLine;
use Hosts;
use Server;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_url_tls');
plan skip_all => 'openssl is not installed' if system('command -v openssl >/dev/null') != 0;

my $here = abs_path('.');

# An authority, and a certificate of it for a name or an address.
sub make_certificate
{
	my ($name, $for) = @_;
	spew("$name.ext", "subjectAltName=$for\n");
	foreach my $command ("req -x509 -newkey rsa:2048 -nodes -keyout $name.ca.key -out $name.ca -days 30 -subj /CN=$name",
		"req -newkey rsa:2048 -nodes -keyout $name.key -out $name.csr -subj /CN=host",
		"x509 -req -in $name.csr -CA $name.ca -CAkey $name.ca.key -CAcreateserial -out $name.crt -days 30 -extfile $name.ext")
	{
		system("openssl $command >/dev/null 2>&1") == 0 or die "openssl $command";
	}
	return;
}

make_certificate('right', 'IP:127.0.0.1');
make_certificate('other', 'DNS:other.example');
my ($plain, $secure, $named) = map { free_port() } 1 .. 3;
my @hops = map { "location = /hop$_/manifest { return 302 https://127.0.0.1:$secure/hop" . ($_ - 1) . '/manifest; }' } 1 .. 5;
my $to_http = "http://127.0.0.1:$plain";
begin_nginx($plain, '}', "server { listen 127.0.0.1:$secure ssl; root $here/www; ssl_certificate $here/right.crt; ssl_certificate_key $here/right.key;",
	'location = /hop0/manifest { alias ' . "$here/www/users/manifest; }", @hops,
	"location = /down/manifest { return 302 $to_http/users/manifest; }",
	'}',
	"server { listen 127.0.0.1:$named ssl; root $here/www; ssl_certificate $here/other.crt; ssl_certificate_key $here/other.key;");
my $url = "https://127.0.0.1:$secure";

make_index(1000);
sql('INSERT INTO users SELECT generate_series(1, 300)');
is((run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users'))[0], 0, 'an index is exported');

my $count = 0;
sub pull { my ($folder, @more) = @_; $count++; return run('', 'pull', '--url', $folder =~ /^http/ ? $folder : "$url/$folder", '--out', "u$count.bloom", @more); }

# An error that says what was wrong, and leaves no file.
sub refuses_to_pull
{
	my ($name, $pattern, @arguments) = @_;
	my ($status, undef, $err) = pull(@arguments);
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	ok($status ne '0' && $err =~ $pattern && !-e "u$count.bloom", $name) || diag("status $status: $err");
	return;
}

# ------------------------------------------------------------------------
# Certificates
# ------------------------------------------------------------------------

delete @ENV{ 'SSL_CERT_FILE', 'SSL_CERT_DIR', grep { /_proxy$/i } keys %ENV };
refuses_to_pull('an authority that nobody knows is refused', qr/its certificate is not trusted: .*SSL_CERT_FILE/, 'users');
{
	local $ENV{SSL_CERT_FILE} = "$here/other.ca";
	refuses_to_pull('and so is the wrong one', qr/its certificate is not trusted/, 'users');
}
$ENV{SSL_CERT_FILE} = "$here/right.ca";
is((pull('users'))[2], '', 'SSL_CERT_FILE names the right one');
ok(has("u$count.bloom", 1 .. 300), 'and all keys are there');
{
	local %ENV = %ENV;
	delete $ENV{SSL_CERT_FILE};
	mkdir 'certificates';
	system('cp right.ca certificates/right.pem && openssl rehash certificates >/dev/null 2>&1');
	$ENV{SSL_CERT_DIR} = "$here/certificates";
	is((pull('users'))[2], '', 'SSL_CERT_DIR a folder with it');
	delete $ENV{SSL_CERT_DIR};
	refuses_to_pull('a name that the certificate is not for', qr/its certificate is not trusted|SSL/, "https://localhost:$named/users");
}
$ENV{SSL_CERT_FILE} = "$here/other.ca";
refuses_to_pull('a certificate of another host', qr/its certificate is not trusted: .*localhost/, "https://localhost:$named/users");
$ENV{SSL_CERT_FILE} = "$here/right.ca";

# ------------------------------------------------------------------------
# Proxies
# ------------------------------------------------------------------------

my $nobody = 'http://127.0.0.1:' . free_port();
{
	local $ENV{HTTPS_PROXY} = $nobody;
	refuses_to_pull('HTTPS_PROXY is used', qr/connect/i, 'users');
	local $ENV{NO_PROXY} = '127.0.0.1';
	is((pull('users'))[2], '', 'but not for what NO_PROXY names');
}
{
	local $ENV{http_proxy} = $nobody;
	refuses_to_pull('http_proxy is used for http:', qr/connect/i, "$to_http/users", '--allow-http');
}

# ------------------------------------------------------------------------
# Redirections
# ------------------------------------------------------------------------

refuses_to_pull('from https to http nothing is followed', qr/leads to an address that isn't https:/, 'down');
my ($status, undef, $err) = pull('hop3');
unlike($err, qr/redirect/i, 'three redirections are followed');
refuses_to_pull('but not four', qr/redirect/i, 'hop4');
spew('headers', "Authorization: Bearer hush\n");
refuses_to_pull('none with secrets, to the same host either', qr/answered 302/, 'hop1', '--header-file', 'headers');
is((pull('users', '--header-file', 'headers'))[2], '', 'where nothing leads on, the header is sent');

done_testing();
