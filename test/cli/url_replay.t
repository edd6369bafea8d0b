# url_replay.t
#	  What a loss of power, a backup or a reboot can leave of a host's files: each of file,
#	  status, mark and working copy as it was, as it would be, or gone.
#
# From each of these readers deny no key of the serial that they tell; and a follower comes
# to what the server has, or says why it leaves the file alone.  Needs a server with the
# extension, nginx, and /dev/shm.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use Cwd qw(abs_path);
my $plain;
BEGIN { $plain = abs_path($ENV{BLOOMFILTER_PLAIN}) if $ENV{BLOOMFILTER_PLAIN}; }
use CommandLine;
use File::Temp qw(tempdir);
use Followers;
use Hosts;
use Readers;
use Server;
use Test::More;
use XXH64;

use constant AT_ONCE => 40;

my $dsn = own_database('bloomfilter_cli_url_replay');
plan skip_all => 'there is no folder in memory' if !-w '/dev/shm';

my $url = begin_nginx(free_port());
make_states($dsn, $url, $plain // program());

# In memory the working copy lies beside the file, so that it can be copied with it.
my $memory = tempdir('bloomfilter-replay-XXXXXX', DIR => '/dev/shm', CLEANUP => 1);

# ------------------------------------------------------------------------
# What there is of each file
# ------------------------------------------------------------------------

my %endings = (file => '', status => '.status', mark => '.mark', working => '.working');

# A host's files, by their endings.
sub keep
{
	my ($file) = @_;
	my %kept;
	foreach my $ending (grep { -e "$file$_" } values %endings) { $kept{$ending} = slurp("$file$ending"); }
	return \%kept;
}

# The host as a follower leaves it that came from one state to another; killed, so that its
# working copy alone has the last step, or ended, so that the file has it.
sub states_on_the_way
{
	my ($before, $state, $signal) = @_;
	my $file = new_host($memory);
	my @kept;
	foreach my $step ([ $before, 'KILL' ], [ $state, $signal ])
	{
		follow($step->[0], $file);
		is(join(' ', wait_in_batch(60, sub { has_state($step->[0], $_[0]) }, $file)), '', "a host comes to the state $step->[0]");
		finish(name_of($file), $step->[1]);
		push @kept, keep($file);
	}
	return @kept;
}

# A working copy of another boot, in which every key would be found; it tells no serial.
sub of_another_boot
{
	my ($copy) = @_;
	substr($copy, 48, 16) = 'another boot of ';
	substr($copy, 120, 8) = pack 'Q<', xxh64(substr $copy, 0, 120);
	substr($copy, 128, 8) = pack 'Q<', 0;
	substr($copy, 4096 + 64) = "\xff" x (length($copy) - 4096 - 64);
	return $copy;
}

# ------------------------------------------------------------------------
# All combinations
# ------------------------------------------------------------------------

sub combinations
{
	my @all = ({});
	foreach my $name ('file', 'status', 'mark', 'working')
	{
		my @which = $name eq 'working' ? qw(old new none boot) : qw(old new none);
		@all = map { my $is = $_; map { { %$is, $name => $_ } } @which } @all;
	}
	return @all;
}

# Whether a loss of power can leave it: the mark is never behind the file, and readers that
# tell a serial have FILE.status from no later than the file or from before.
sub is_possible
{
	my ($is) = @_;
	return $is->{file} ne 'none' && ($is->{mark} eq 'new' || ($is->{mark} eq 'old' && $is->{file} eq 'old'));
}

sub text_of { my ($is) = @_; return join ', ', map { "$_ $is->{$_}" } 'file', 'status', 'mark', 'working'; }

sub lay_out
{
	my ($is, $old, $new) = @_;
	my $file = new_host($memory);
	foreach my $name (keys %endings)
	{
		my $ending = $endings{$name};
		my $content = { old => $old->{$ending}, new => $new->{$ending}, none => undef }->{ $is->{$name} };
		$content = of_another_boot($new->{$ending}) if $is->{$name} eq 'boot';
		spew("$file$ending", $content) if defined $content;
	}
	return $file;
}

sub wrong_answers
{
	my ($when, $is, @files) = @_;
	my @by_python = denied_by_python(@files);
	my @wrong;
	foreach my $i (grep { -e $files[$_] } 0 .. $#files)
	{
		my $text = "$when, " . text_of($is->{ $files[$i] });
		my $by_library = denied($files[$i]);
		push @wrong, "$text: $by_library" if $by_library !~ /denied 0$/;
		push @wrong, "$text: Python: $by_python[$i]" if $by_python[$i] !~ /denied 0$/;
		push @wrong, "$text: the copy of another boot is used" if $text =~ /boot/ && (run('', 'contains', '--count', '-t', 'integer', $files[$i], map { 5_000_000 + $_ } 1 .. 20))[1] =~ /^20$/;
	}
	return @wrong;
}

foreach my $try ([ 'first', 'step', 'KILL' ], [ 'first', 'step', 'TERM' ], [ 'first', 'epoch', 'KILL' ])
{
	my ($before, $state, $signal) = @$try;
	my ($old, $new) = states_on_the_way($before, $state, $signal);
	my @all = combinations();
	my (@wrong, @stuck);
	while (my @batch = splice @all, 0, AT_ONCE)
	{
		my %is = map { (lay_out($_, $old, $new) => $_) } @batch;
		my @files = sort keys %is;
		push @wrong, wrong_answers('left', \%is, @files);
		follow($state, $_) foreach @files;
		my $done = sub { my ($file) = @_; return has_state($state, $file) || -e '.' . name_of($file) . '.log' && slurp('.' . name_of($file) . '.log') =~ /remove it/; };
		push @wrong, map { 'neither followed nor refused, ' . text_of($is{$_}) . ': ' . slurp('.' . name_of($_) . '.log') } wait_in_batch(60, $done, @files);
		push @stuck, map { text_of($is{$_}) } grep { !has_state($state, $_) && is_possible($is{$_}) } @files;
		push @wrong, map { 'other bits, ' . text_of($is{$_}) } grep { has_state($state, $_) && bits_of($_) ne bits_at($state) } @files;
		finish(name_of($_), 'TERM') foreach @files;
		push @wrong, wrong_answers('ended', \%is, @files);
		system('rm', '-rf', map { s{/u\.bloom$}{}r } @files);
	}
	is(join("\n", @wrong), '', "from $before to $state, $signal: no reader denies a key of the serial that it tells");
	is(join("\n", @stuck), '', "from $before to $state, $signal: what a loss of power leaves is gone on from");
}

# ------------------------------------------------------------------------
# The exporter's folder, whose last manifest was lost
# ------------------------------------------------------------------------

is((run('', 'pull', '--url', "$url/epoch", '--allow-http', '--out', 'ahead.bloom'))[0], 0, 'a host has the last manifest');
my $serial = manifest('now')->{serial}[0];
foreach my $lost ('step', 'first')
{
	system("cp www/$lost/manifest www/now/manifest");
	is((run('', 'export', '--dsn', $dsn, '--index', 'users_filter', '--to', 'www/now'))[0], 0, "the exporter goes on from the manifest of $lost");
	cmp_ok(manifest('now')->{serial}[0], '>', $serial, 'with a serial that no host has seen');
	is((run('', 'pull', '--url', "$url/now", '--allow-http', '--out', 'ahead.bloom'))[0], 0, 'so that hosts follow');
	is(bits_of('ahead.bloom'), bits_at('epoch'), 'and have what they had');
}

# ------------------------------------------------------------------------
# A working copy that is older than the file
# ------------------------------------------------------------------------

# The follower ends, and then the file alone is pulled.  Who starts it again finds no server.
sub says { my ($state) = @_; return "told @{[ newest($state) ]}, denied 0"; }
my $behind = new_host($memory);
follow('first', $behind);
is(join(' ', wait_in_batch(60, sub { has_state('first', $_[0]) }, $behind)), '', 'a host follows');
finish(name_of($behind), 'TERM');
is(working_serial($behind), newest('first'), 'and ends, with a working copy');
is((run('', 'pull', '--url', "$url/step", '--allow-http', '--out', $behind))[0], 0, 'the file alone is pulled');
is(working_serial($behind), newest('first'), 'and is newer than the working copy');
is(denied($behind), says('step'), 'readers have the file');
is((denied_by_python($behind))[0], says('step'), 'in Python, too');
follow('nowhere', $behind);
ok(wait_for(60, sub { -e '.' . name_of($behind) . '.log' && slurp('.' . name_of($behind) . '.log') =~ /answered 404/ }), 'it is followed again, and the server has nothing');
is(denied($behind), says('step'), 'readers still have what the file has');
is((denied_by_python($behind))[0], says('step'), 'in Python, too');
is(working_serial($behind), newest('step'), 'in a working copy of its own');
finish(name_of($behind), 'TERM');
is(denied($behind), says('step'), 'and after the end');
is(bits_of($behind), bits_at('step'), 'as the file has not changed');

# ------------------------------------------------------------------------
# A link that leads to nothing, as after a boot, where no new copy can be made
# ------------------------------------------------------------------------

my $dangling = new_host();
is((run('', 'pull', '--url', "$url/step", '--allow-http', '--out', $dangling))[0], 0, 'a file on the disk');
symlink "$memory/gone", "$dangling.working" or die $!;
is((run('', 'pull', '--url', "$url/step", '--allow-http', '--out', $dangling))[0], 0, 'who looks once');
ok(-l "$dangling.working", 'leaves it');
begin(name_of($dangling), program(), 'pull', '--url', "$url/step", '--allow-http', '--out', $dangling, '--follow', '--every', '1', '--working', 'no');
ok(wait_for(60, sub { !-l "$dangling.working" }), 'a follower removes it');
is(denied($dangling), says('step'), 'readers have the file');
finish(name_of($dangling), 'TERM');

# ------------------------------------------------------------------------
# A file that another program replaced
# ------------------------------------------------------------------------

my $replaced = new_host($memory);
system('cp', '-r', 'www/step', 'www/moving');
follow('moving', $replaced);
ok(wait_for(60, sub { working_serial($replaced) == newest('step') }), 'a host follows');
is((run("1\n2\n", 'build', '-n', '10', '-t', 'integer', '--no-progress', "$replaced.other"))[0], 0, 'another program');
rename "$replaced.other", $replaced or die $!;
system('cp www/epoch/*.* www/moving/ && cp www/epoch/manifest www/moving/new && mv www/moving/new www/moving/manifest');
my $refused = sub { return scalar(() = slurp('.' . name_of($replaced) . '.log') =~ /was replaced by another program/g); };
ok(wait_for(120, sub { $refused->() >= 3 }), 'replaces its file, which is left alone at a new epoch, again and again');
is(scalar(() = slurp('access.log') =~ m{GET /moving/\w+\.(?:bloom|delta) }g), 1, 'and nothing is fetched for it but what came at first');
finish(name_of($replaced), 'TERM');

# ------------------------------------------------------------------------
# A damaged working copy
# ------------------------------------------------------------------------

my $damaged = new_host($memory);
follow('step', $damaged);
is(join(' ', wait_in_batch(60, sub { has_state('step', $_[0]) }, $damaged)), '', 'a host follows');
my ($status, $out, $err) = run('', 'verify', $damaged);
is("$status$err", '0', 'verify finds nothing wrong with its working copy');
like($out, qr/^working copy: has all bits of the file, serial @{[ newest('step') ]}$/m, 'and says so');
finish(name_of($damaged), 'KILL');
my $copy = slurp("$damaged.working");
my ($at) = grep { substr(slurp($damaged), $_, 1) ne "\0" } 64 .. (-s $damaged) - 1;
substr($copy, $at + 4096, 1) = "\0";
spew("$damaged.working", $copy);
($status, $out, $err) = run('', 'verify', $damaged);
is($status, 1, 'bits that were cleared are found');
like($err, qr/working copy of "\Q$damaged\E" is damaged: it lacks [1-8] bits? of the file; .*remove/, 'and said');
substr($copy, 100, 1) = 'x';
spew("$damaged.working", $copy);
is((run('', 'verify', $damaged))[0], 1, 'and so is a damaged header');
my $content = slurp($damaged);
unlink "$damaged.working";
spew($damaged, substr($content, 0, -1) . chr(1 ^ ord substr $content, -1));
is((run('', 'verify', $damaged))[0], 1, 'and a damaged file');

finish('nginx', 'TERM');
scope_to('public');
sql('DROP DATABASE bloomfilter_cli_url_replay WITH (FORCE)');
done_testing();
