# completion.t
#	  What bash completes, against what the program takes.

use Cwd qw(abs_path);
use FindBin;
my $script;
BEGIN { $script = abs_path("$FindBin::Bin/../../src/cli/bloomfilter.bash"); }
# Programs are started so often, to tell of themselves, that they are those without sanitizers.
BEGIN { $ENV{BLOOMFILTER} = $ENV{BLOOMFILTER_PLAIN} if $ENV{BLOOMFILTER_PLAIN}; }

use CommandLine;

plan skip_all => 'no bash that has mapfile'
  if system('bash -c "help mapfile" >/dev/null 2>&1') != 0;

# Calls the function as bash does, for the last of the words, and prints one
# completion per line.
my $caller = <<'EOC';
. "$1"
program=$2
shift 2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_bloomfilter "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
[ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\n' "${COMPREPLY[@]}"
EOC

sub completions
{
	open my $bash, '-|', 'bash', '-c', $caller, 'bash', $script, program(), 'bloomfilter', @_ or die "bash: $!";
	chomp(my @lines = <$bash>);
	close $bash or die "completion failed: @_\n";
	# the files that the tests themselves work with are hidden ones
	return [ sort grep { !/^\.std/ } @lines ];
}

# The long options that a help text lists at the beginning of its lines.
sub options_of
{
	my ($help) = @_;
	return [ sort $help =~ /^ +(?:-\w, )? *(--[a-z-]+)/mg ];
}

mkdir 'folder';
spew($_, '') foreach 'filter.bloom', 'two words', 'keys.txt', 'folder/inner';
my @files = sort 'filter.bloom', 'two words', 'keys.txt', 'folder';

# Known to bash
like(`bash -c '. "\$1" && complete -p bloomfilter' bash \Q$script\E`, qr/\Acomplete .*-o filenames .*-F _bloomfilter bloomfilter\n\z/,
	'registered, as giving names of files');

# Commands
my $help = (run('', '--help'))[1];
my @commands = $help =~ /^  ([a-z]+)  /mg;
is(scalar @commands, 9, 'commands');
is_deeply(completions(''), [ sort @commands, 'help', '--help', '--version' ], 'the first word: commands');
is_deeply(completions('help', 'p'), ['pull'], 'help of a command');
is_deeply([ run('', 'help', $_) ], [ run('', $_, '--help') ], "help $_") foreach @commands;
is_deeply(completions('none', '--'), [], 'no options of an unknown command');

# Options: all that --help has, and each is one
foreach my $command (@commands)
{
	my $listed = options_of((run('', $command, '--help'))[1]);
	cmp_ok(scalar @$listed, '>=', 1, "$command: has options");
	is_deeply(completions($command, '--'), $listed, "$command: options");
	is_deeply(completions($command, 'filter.bloom', '--hel'), ['--help'], "$command: an option, begun, after a file");
	foreach my $option (@$listed)
	{
		unlike((run('', $command, $option))[2], qr/unknown option/, "$command: takes $option");
	}
}

# Types of keys: those that the program names
my ($types) = (run('', 'build', '-t', 'none', 'x'))[2] =~ /one of ([a-z, ]+)$/m;
my @types = sort split /, /, $types;
is(scalar @types, 12, 'types of keys, and real');
foreach my $command ('build', 'contains', 'explain', 'verify')
{
	is_deeply(completions($command, '-t', ''), \@types, "$command -t: types");
}
is_deeply(completions('build', '-t', 'integer', ''), \@files, 'a file after a type');

# Files
foreach my $words ([ 'build', '' ], [ 'info', '--json', '' ], [ 'verify', 'filter.bloom', '-k', '' ], [ 'pull', '--out', '' ])
{
	is_deeply(completions(@$words), \@files, "@{$words}: files");
}
is_deeply(completions('info', 'f'), [ 'filter.bloom', 'folder' ], 'files, begun');
is_deeply(completions('info', 'two'), ['two words'], 'a file with a space in its name is one completion');
is_deeply(completions('info', 'folder/'), ['folder/inner'], 'a file in a folder');
is_deeply(completions('pull', ''), [], 'pull has no file of its own');

# What nobody can know
foreach my $words ([ 'build', '-n' ], [ 'build', '--rate' ], [ 'pull', '--dsn' ], [ 'status', '--max-age' ])
{
	is_deeply(completions(@$words, ''), [], "@{$words}: nothing");
}
done_testing();
