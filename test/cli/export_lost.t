# export_lost.t
#	  A folder that loses files while an exporter runs: whole files take their place, and hosts
#	  get everything; --after when the exporter is to end; and more parts than a manifest holds.
#
# Needs a server with the extension, and nginx.

use CommandLine;
use Cwd;
use Hosts;
use Server;

skip_leaks();

my $dsn = own_database('bloomfilter_cli_export_lost');
begin_nginx(free_port());
my @export = (program(), 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/users', '--poll', '1', '--quiet');
make_index(20000);

my $next = 1;
sub patches { return @{ manifest('users')->{patch} // [] }; }
sub content { return manifest('users')->{content}[0]; }
sub path_of { my ($line, $ending) = @_; return 'www/users/' . (split / /, $line)[-1] . $ending; }
sub pulled { my ($file) = @_; return (by_url('users', $file))[0] eq '0' && has($file, 1 .. $next - 1); }

# Keys that come, are published, and told of in .status
sub insert
{
	my $before = content();
	sql("INSERT INTO users SELECT generate_series($next, $next + 4)");
	$next += 5;
	return wait_for(60, sub { content() > $before && exporter_says('users', 'serial') >= content() });
}

begin('exporter', @export, '--follow', '--every', '0.2', '--heartbeat', '1');
ok(wait_for(30, sub { exporter_says('users', 'full_files_first') eq '1' }), 'an exporter');

# ------------------------------------------------------------------------
# Patches
# ------------------------------------------------------------------------

sub spoil { my ($file) = @_; return overwrite($file, (-s $file) - 1, chr(1 ^ ord substr slurp($file), -1)); }
my $lost = 0;
foreach my $try ([ 'gone', sub { unlink $_[0] } ], [ 'damaged', \&spoil ])
{
	my ($how, $harm) = @$try;
	# so many that they are merged with one of the next two
	foreach (1 .. 12) { last if !insert() || patches() >= 4; }
	ok(pulled('u.bloom'), "a host has all before a patch is $how");
	my @patches = patches();
	$harm->(path_of($patches[-2], '.patch'));
	$lost++;
	my $inserted = 0;
	while ($inserted < 3 && exporter_says('users', 'full_files_folder') < $lost)
	{
		last if !insert();
		$inserted++;
	}
	is(exporter_says('users', 'full_files_folder'), $lost, "a patch that is $how when it is to be merged: whole files, and status says why");
	is(torn('users'), '', 'all that the manifest names is sound');
	is(scalar(patches()), 1 + $inserted, 'the patches behind it are still named');
	ok(pulled('u.bloom'), 'the host has all');
	ok(pulled("new_$how.bloom"), 'and so has a new one');
}

# ------------------------------------------------------------------------
# A whole file, while no keys come
# ------------------------------------------------------------------------

unlink path_of(manifest('users')->{whole}[0], '.bloom');
ok(wait_for(120, sub { torn('users') eq '' && exporter_says('users', 'full_files_folder') eq $lost + 1 }), 'a whole file that is gone is written anew');
ok(pulled('new_whole.bloom'), 'and a new host has all');
is(exporter_says('users', 'failures'), 0, 'nothing fails');
is(finish('exporter', 'TERM'), 0, 'the exporter ends');

# ------------------------------------------------------------------------
# The end, while --after runs
# ------------------------------------------------------------------------

my $here = getcwd();
begin('exporter', @export, '--follow', '--heartbeat', '1', '--after', "sleep 600 & echo \$! >$here/pid.new; mv $here/pid.new $here/pid; wait");
ok(wait_for(60, sub { -e 'pid' }), 'a command that takes long');
kill 'TERM', process_of('exporter');
ok(wait_for(60, sub { !is_alive('exporter') }), 'does not keep an exporter that is to end');
chomp(my $sleep = slurp('pid'));
ok(wait_for(30, sub { !kill 0, $sleep }), 'and ends with it');
kill 'KILL', $sleep;

# ------------------------------------------------------------------------
# More parts than a manifest can name
# ------------------------------------------------------------------------

sql(q{
SET search_path = public, ext;
SET client_min_messages = error;
SELECT bloom_publish_filter('many', array_agg(filter ORDER BY part), allow_shrink => true) IS NULL FROM (
	SELECT bloom_part(g, 11000) AS part, bloom_part_agg(g, 11000, 500000, 0.01) AS filter
	FROM generate_series(1, 330000) AS g GROUP BY 1) AS s;
});
my ($status, undef, $err) = run('', 'export', '--dsn', $dsn =~ s/$/ options='-csearch_path=public,ext'/r, '--list', 'many', '--to', 'www/many');
ok($status eq '2' && $err =~ /the manifest has \d+ bytes, and hosts refuse more than 1048576: publish fewer parts/, 'too many parts are an error') || diag($err);
is(scalar(() = glob 'www/many/*'), 0, 'before anything is written');

done_testing();
