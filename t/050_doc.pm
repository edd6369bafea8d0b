# What the tests of operations share: the blocks of a Markdown page, and clients
# that ask while something else happens.

package doc;

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use lib dirname(abs_path(__FILE__)) . '/lib';
use BloomTest::Kept;
use BloomTest::Template;
use IPC::Run;
use PostgreSQL::Test::Utils ();

my $root = abs_path(dirname(__FILE__) . '/..');

# A list of { mark, section, line, sql, output } for each block of a page.  Its output is the block
# marked "output" right behind it, where there is one.
sub blocks
{
	my ($page) = @_;
	my ($section, $block, @blocks) = ('');

	open my $in, '<', "$root/$page" or die "$page: $!";
	while (my $line = <$in>)
	{
		if ($block && $line =~ /^```$/)
		{
			my $whole = $block;
			$block = undef;
			push(@blocks, $whole), next if $whole->{mark} ne 'output';
			die "$page, line $.: the output of nothing" if !@blocks || defined $blocks[-1]{output};
			$blocks[-1]{output} = $whole->{sql};
		}
		elsif ($block)
		{
			$block->{sql} .= $line;
		}
		elsif ($line =~ /^```(\w*)$/)
		{
			$block = { mark => $1, section => $section, line => $. + 1, sql => '' };
		}
		elsif ($line =~ /^## (.*)/)
		{
			$section = $1;
		}
	}
	die "$page: a block does not end" if $block;
	return @blocks;
}

# Those marked "sql", or otherwise.
sub sql_blocks
{
	my ($page, $mark) = @_;

	$mark //= 'sql';
	return grep { $_->{mark} eq $mark } blocks($page);
}

# What psql shows of a block, aligned as on a page: standard output, and errors and notices.
sub shown
{
	my ($node, $database, $sql) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-P', 'footer=off', '-d', $node->connstr($database) ],
		'<', \$sql, '>', \$out, '2>', \$err);
	return map { s/[ \t]+$//mgr =~ s/\n+\z/\n/r } ($out, $err);
}

# What a page or a program shows, without what differs from run to run; below is the test's folder.
sub shape
{
	my ($shown, $below) = @_;
	$shown =~ s/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g;
	$shown =~ s/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d)/TIME/g;
	$shown =~ s/\b\d{16}\b/SERIAL/g;
	$shown =~ s/\b\d+\.\d s\b/N s/g;
	$shown =~ s/^(\w+_age +)\d+ s$/$1N s/mg;
	$shown =~ s/\Q$below\E\S*?\/(?=\w+(?:\.bloom)?$)/FOLDER\//mg;
	$shown =~ s/(^(?:file|folder) +)\/\S*\/(?=\w+(?:\.bloom)?$)/$1FOLDER\//mg;
	return $shown;
}

# The blocks of OPERATIONS.md, up to the end of a section, as one script.
sub operations_until
{
	my ($last) = @_;
	my @blocks = sql_blocks('doc/OPERATIONS.md');
	my ($end) = grep { $blocks[$_]{section} eq $last } reverse 0 .. $#blocks;

	die "no section $last" unless defined $end;
	return join "\n", map { $_->{sql} } @blocks[ 0 .. $end ];
}

# The first block marked "text" that matches.
sub text_block
{
	my ($page, $pattern) = @_;
	my ($block) = grep { $_->{sql} =~ $pattern } sql_blocks($page, 'text');

	die "$page: no block with $pattern" unless $block;
	return $block->{sql};
}

# Starts pgbench on a script that fails where a member is denied.
sub ask_members
{
	my ($node, $database, $script) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir_short() . '/ask.sql';
	my $clients = { err => '' };

	PostgreSQL::Test::Utils::append_to_file($file, $script);
	$clients->{run} = IPC::Run::start(
		[ 'pgbench', '--no-vacuum', '--protocol=prepared', '--client=4', '--rate=50', '--time=600',
			'--file', $file, '--host', $node->host, '--port', $node->port, $database ],
		'>', \$clients->{out}, '2>', \$clients->{err});
	$node->poll_query_until('postgres', q{
select count(*) >= 4 from pg_stat_activity
where backend_type = 'client backend' and query like 'select 1 / %'})
	  or die 'the clients do not ask';
	return $clients;
}

# Ends the clients; an empty string, or what went wrong until then.
sub stop_asking
{
	my ($clients) = @_;

	return "the clients have ended: $clients->{err}" unless $clients->{run}->pumpable;
	$clients->{run}->signal('TERM');
	$clients->{run}->finish;
	return $clients->{err} =~ /error|abort/i ? $clients->{err} : '';
}

sub root
{
	return $root;
}

1;
