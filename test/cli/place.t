# place.t
#	  What becomes of FILE under its follower, alive or started anew: it is gone, empty, cut,
#	  changed, older, of something else.  Within seconds a reader has all keys again, or
#	  status says what is wrong; and no serial is told whose keys are missing.
#
# Needs nginx, which listens on loopback.

use CommandLine;
use File::Copy qw(copy);
use Hosts;
use Lists;
use Readers qw(open_reader close_readers);
use Time::HiRes qw(sleep);

skip_leaks();

my $url = begin_nginx(free_port());
my @keys = (1 .. 300, 1001 .. 1100);
make_list($url, 's', 100, 'new:1-300', 'set:1001-1100', 'set:1101-1200', 'flip:2001-2100');
{
	local $ENV{IDENTITY} = 'b';
	local $ENV{LIST} = 'other';
	make_list($url, 'other', 100, 'new:7-9');
}
serve('s', 1);
is((pull_once('plain'))[0], 0, 'a file of one look');
is((run('', 'copy', 'plain', 'filter'))[0] . lacks('filter', @keys), '00', 'copied to a filter that has all keys');
refuses(qr/same file/, '', 'copy', 'plain', './plain');
is(system(program() . ' pull --url http://127.0.0.1:1/none --allow-http --out plain <&- >&- 2>&-') && (run('', 'verify', 'plain'))[0], 0, 'with standard error closed its messages are not written to it');
serve('other', 0);
is((pull_once('other'))[0], 0, 'a file of another list');
serve('s', 0);
is((pull_once('older'))[0], 0, 'and an older one');

sub replace { my ($with, $file) = @_; copy($with, "$file.put") or die; rename "$file.put", $file or die; return; }

my %harms = (
	gone => sub { unlink $_[0] },
	'cut in its page' => sub { truncate $_[0], 1000 },
	'cut in its bits' => sub { truncate $_[0], 5000 },
	'zeros in its bits' => sub { overwrite($_[0], 4096 + 64, "\0" x 3000) },
	'a bit set' => sub { overwrite($_[0], 4096 + 64, "\xff") },
	'zeros in its page' => sub { overwrite($_[0], 0, "\0" x 4096) },
	'another serial' => sub { overwrite($_[0], 520, pack 'Q<', serial_of('s', 3)) },
	'a byte more' => sub { open my $to, '>>', $_[0]; print $to 'x' },
	'a damaged header' => sub { overwrite($_[0], 4096 + 10, "\xff") },
	'an older file by cp' => sub { system('cp', 'older', $_[0]) },
	'an older file by rename' => sub { replace('older', $_[0]) },
	'a filter by rename' => sub { replace('filter', $_[0]) },
	'itself by rename' => sub { system('cp', $_[0], "$_[0].c"); rename "$_[0].c", $_[0] },
	'another list by rename' => sub { replace('other', $_[0]) },
	'another program\'s by rename' => sub { spew("$_[0].put", "mine\n" x 2000); rename "$_[0].put", $_[0] },
);
my %left_alone = ('another list by rename' => qr/^(\S+ )?(old|identity)$/, "another program's by rename" => qr/^damaged$/);
my ($hosts, $ends) = (0, 0);

serve('s', 1);
foreach my $harm (grep { ($ENV{HARMS} // $_) eq $_ } sort keys %harms)
{
	# a follower that is killed has not saved what came last
	foreach my $when ('alive', ++$ends % 2 ? 'started anew' : 'killed and started anew')
	{
		# a serial that is right for the bits can't be told from one that isn't: then the list seems to go back
		next if $harm eq 'another serial' && $when ne 'alive';
		my $name = 'h' . ++$hosts;
		mkdir $name;
		my $file = "$name/u.bloom";
		serve('s', 1);
		follow($name, $file);
		wait_for(60, sub { page_serial($file) == serial_of('s', 1) && lacks($file, @keys) eq '0' && status_word($file) eq '' }) or diag("no start: " . slurp(".$name.log"));
		finish($name, $when eq 'started anew' ? 'TERM' : 'KILL') if $when ne 'alive';
		$harms{$harm}->($file);
		follow($name, $file) if $when ne 'alive';
		my $told;
		if (my $word = $left_alone{$harm})
		{
			# the other one's name is known before the first look where the file was another one before
			like(slurp(".$name.log"), qr/is the list "other", not "users": remove it, or name another --out/, "$harm, $when: what to do")
			  if $harm =~ /another list/ && wait_for(30, sub { slurp(".$name.log") =~ /is the list/ });
			ok(wait_for(60, sub { $told = told($file); $told->{exit} eq '1' && ($told->{wrong} // '') =~ $word }), "$harm, $when: status says so")
			  || diag("exit $told->{exit}, wrong " . ($told->{wrong} // '') . "\n" . slurp(".$name.log"));
			finish($name, 'KILL');
			next;
		}
		ok(wait_for(60, sub { page_serial($file) == serial_of('s', 1) && lacks($file, @keys) eq '0' && ($told = told($file))->{exit} eq '0' && ($told->{serial} // '') eq serial_of('s', 1) }), "$harm, $when: all is there again")
		  || diag('lacks ' . lacks($file, @keys) . ", exit " . ($told->{exit} // '') . ', wrong ' . ($told->{wrong} // '') . "\n" . slurp(".$name.log"));
		like(slurp(".$name.log"), qr/was written to or made longer by another program/, 'which is said') if "$harm, $when" eq 'a byte more, alive';
		# it goes on from there
		serve('s', 2);
		ok(wait_for(60, sub { page_serial($file) == serial_of('s', 2) && lacks($file, @keys, 1101 .. 1200) eq '0' && (told($file)->{serial} // '') eq serial_of('s', 2) }), 'the next keys come')
		  || diag(slurp(".$name.log"));
		is(finish($name, 'TERM'), 0, 'and it ends when it is told to');
		is_deeply([ sort map { s{.*/}{}r } glob("$name/* $name/.*.new") ], [ 'u.bloom', 'u.bloom.lock' ], 'and leaves nothing else');
	}
}

# Without a server what is right in memory of the system comes back, too.
serve('s', 1);
mkdir 'away';
follow('away', 'away/u.bloom');
ok(wait_for(60, sub { status_word('away/u.bloom') eq '' }), 'a host');
rename 'www/now', 'www/gone';
unlink 'away/u.bloom';
ok(wait_for(60, sub { lacks('away/u.bloom', @keys) eq '0' }), 'a file that is removed while the server is away is made again');
like(wait_for(60, sub { status_word('away/u.bloom') }), qr/no-look/, 'and status says that nobody looks');
overwrite('away/u.bloom', 4096 + 64, "\0" x 3000);
ok(wait_for(60, sub { status_word('away/u.bloom') =~ /damaged|no-look/ && page_of('away/u.bloom')->{serial} == 0 }), 'one that lost bits tells no serial');
rename 'www/gone', 'www/now';
ok(wait_for(40, sub { lacks('away/u.bloom', @keys) eq '0' && status_word('away/u.bloom') eq '' }), 'until the server is back');

# Who has a file open for long gets an error for what others do to it, and never a "no".
SKIP:
{
	my %written_over = (
		'another list by cat' => sub { system("cat other >$_[0]") },
		# of another time, by how often it was written to
		'an older page and no bits' => sub { my $page = substr slurp('held'), 0, 4096; substr $page, 512, 8, pack 'Q<', 2; overwrite($_[0], 0, $page . "\0" x ((-s 'held') - 4096 - 64)) },
		'zeros in its bits' => sub { overwrite($_[0], 4096 + 64, "\0" x 3000) },
	);
	my $program = $ENV{BLOOMFILTER_READER} // skip 'BLOOMFILTER_READER names no program', 5 * keys %written_over;
	mkdir 'open';
	follow('open', 'open/u.bloom');
	foreach my $harm (sort keys %written_over)
	{
		ok(wait_for(60, sub { status_word('open/u.bloom') eq '' && lacks('open/u.bloom', @keys) eq '0' }), "$harm: a file");
		spew('held', slurp('open/u.bloom'));
		my $ask = open_reader($program, 'open/u.bloom');
		is(($ask->('1-300', '1001-1100'))[1], 0, 'that a program has open');
		rename 'www/now', 'www/gone';
		$written_over{$harm}->('open/u.bloom');
		ok(wait_for(20, sub { !(() = $ask->('1-300')) }), 'is written over while the server is away: an error');
		is(scalar(grep { sleep 0.2; () = $ask->('1-300') } 1 .. 20), 0, 'which stays');
		rename 'www/gone', 'www/now';
		ok(wait_for(60, sub { my ($serial, $lacks) = $ask->('1-300', '1001-1100'); defined $lacks && $lacks == 0 }), 'until the whole has come');
		close_readers();
	}
	finish('open', 'TERM');
}

# Two followers, and the lock.
like((pull_once('away/u.bloom'))[2], qr/is followed by another process/, 'a second follower is refused');
is((stat 'away/u.bloom.lock')[2] & 0777, 0600, 'nobody else can take the lock');
foreach my $harm (sub { unlink 'away/u.bloom.lock' }, sub { rename 'away', 'moved' })
{
	$harm->();
	ok(wait_for(60, sub { !is_alive('away') }), 'who lost its lock ends');
	like(slurp('.away.log'), qr/has lost its lock/, 'and says so');
	rename 'moved', 'away';
	follow('away', 'away/u.bloom');
	ok(wait_for(60, sub { status_word('away/u.bloom') eq '' }), 'another one goes on');
}
finish('away', 'KILL');

# Copies and other boots: only what the file was born with is told.
serve('s', 2);
system('cp', 'away/u.bloom', 'copy');
is((pull_once('away/u.bloom'))[0], 0, 'a look more') or diag(slurp('.stderr'));
system('cp', 'away/u.bloom', 'copy');
is(told('away/u.bloom')->{serial}, serial_of('s', 2), 'the file tells the serial that it has');
is(join(' ', @{ told('copy') }{qw(serial place exit)}), serial_of('s', 1) . ' copy 1', 'a copy the one that it was born with, and that it is one, which is not well');
is(lacks('copy', @keys), 0, 'and its keys are there');

# Another boot: as if this file had been made in it, by its page.
sub with_boot
{
	my ($file, $boot) = @_;
	my $page = substr slurp($file), 0, 504;
	substr $page, 48, 16, $boot;
	require XXH64;
	overwrite($file, 0, $page . pack 'Q<', XXH64::xxh64($page));
	return;
}
with_boot('away/u.bloom', "\1" x 16);
is(join(' ', @{ told('away/u.bloom') }{qw(place serial exit)}), 'other boot ' . serial_of('s', 2) . ' 1', 'a file of another boot, which was saved at its end, is not well before its follower comes');
overwrite('away/u.bloom', 1032, "\0");
is(told('away/u.bloom')->{serial}, serial_of('s', 1), 'and a torn note of saving counts for nothing');
rename 'www/now', 'www/gone';
follow('away', 'away/u.bloom');
ok(wait_for(60, sub { told('away/u.bloom')->{place} eq 'here' }), 'its follower makes it its own before its first look');
is(page_of('away/u.bloom')->{born}, serial_of('s', 1), 'born with what could be believed');
rename 'www/gone', 'www/now';
ok(wait_for(30, sub { (told('away/u.bloom')->{serial} // '') eq serial_of('s', 2) && status_word('away/u.bloom') eq '' }), 'and catches up');
finish('away', 'KILL');

# Killed while it set bits: the sum is reckoned anew.
overwrite('away/u.bloom', 512, pack 'Q<', page_of('away/u.bloom')->{changes} + 1);
overwrite('away/u.bloom', 4096 + 64 + 100, "\xff");
is((pull_once('away/u.bloom'))[0], 0, 'a file whose changes are odd') or diag(slurp('.stderr'));
is(page_of('away/u.bloom')->{changes} % 2, 0, 'is made even');
is((run('', 'verify', 'away/u.bloom'))[0], 0, 'and its sum is that of its bits');
overwrite('away/u.bloom', 4096 + 64 + 200, "\xff");
my ($status, undef, $err) = run('', 'verify', 'away/u.bloom');
ok($status == 1 && $err =~ /sum of its bits does not match/, 'another bit is found by verify') || diag("$status $err");
is((pull_once('away/u.bloom'))[0], 2, 'and by the follower');
is((pull_once('away/u.bloom'))[0], 0, 'which then fetches the whole');
is((run('', 'verify', 'away/u.bloom'))[0], 0, 'and all is well');
spew('away/copy.bloom', slurp('away/u.bloom'));
overwrite('away/copy.bloom', 4096 + 64 + 200, "\xff");
is((run('', 'verify', 'away/copy.bloom'))[0], 1, 'a copy with another bit is not sound');
like((run('', 'status', 'away/copy.bloom'))[2], qr/^bloomfilter: away\/copy\.bloom: old: its follower has not taken it up/, 'nobody follows it');
spew('away/cut.bloom', 'BLMF');
like((run('', 'status', 'away/cut.bloom'))[2], qr/^bloomfilter: away\/cut\.bloom: damaged: (?!away)/, 'the line of what is no filter names it once');

# Modes.
mkdir 'modes';
umask 022;
is((pull_once('modes/u.bloom'))[0], 0, 'a new file');
is((stat 'modes/u.bloom')[2] & 0777, 0644, 'has what the umask leaves');
# a reader that has the file open sees this inode, whatever the name means then
link 'modes/u.bloom', 'modes/old' or die;
is(page_of('modes/old')->{superseded}, 0, 'and nobody has to leave it');
serve('s', 3);
is((pull_once('modes/u.bloom'))[0], 0, 'a new epoch');
isnt((stat 'modes/u.bloom')[1], (stat 'modes/old')[1], 'takes a new file');
is_deeply([ map { page_of("modes/$_")->{superseded} } 'old', 'u.bloom' ], [ 1, 0 ], 'and who reads the old one is told to read the new one');
symlink 'u.bloom', 'modes/link';
symlink 'nothing', 'modes/other';
foreach my $link ('link', 'other')
{
	my ($refused, undef, $why) = pull_once("modes/$link");
	is("$refused $why", qq(2 bloomfilter: "modes/$link" is a symbolic link: give the path that it leads to\n), 'a link is not followed');
	ok(-l "modes/$link" && !-e 'modes/nothing' && !-e "modes/$link.lock", 'and nothing is made, neither here nor there');
}
begin('none', program(), 'pull', '--url', 'http://127.0.0.1:1/none', '--allow-http', '--out', 'modes/none.bloom', '--follow');
ok(wait_for(30, sub { -s '.none.log' }), 'a server that is not there');
like((pull_once($_))[2], qr/is followed by another process|Is a directory/, "$_ can not be pulled") foreach 'modes/none.bloom', 'modes';
is(-e 'modes/none.bloom.lock' && finish('none', 'TERM'), 0, 'who is refused takes no lock away');
ok(!glob('modes/none.bloom* modes.loc*'), 'no lock is left where nothing was pulled');

done_testing();
