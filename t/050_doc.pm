# The SQL blocks of a Markdown page, for the tests that run them.

package doc;

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Basename qw(dirname);

my $root = abs_path(dirname(__FILE__) . '/..');

# A list of { section, line, sql } for each block marked "sql".
sub sql_blocks
{
	my ($page) = @_;
	my ($section, $block, @blocks) = ('');

	open my $in, '<', "$root/$page" or die "$page: $!";
	while (my $line = <$in>)
	{
		if (!$block && $line =~ /^## (.*)/)
		{
			$section = $1;
		}
		elsif (!$block && $line =~ /^```sql$/)
		{
			$block = { section => $section, line => $. + 1, sql => '' };
		}
		elsif ($block && $line =~ /^```$/)
		{
			push @blocks, $block;
			$block = undef;
		}
		elsif ($block)
		{
			$block->{sql} .= $line;
		}
	}
	die "$page: a block does not end" if $block;
	return @blocks;
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

sub root
{
	return $root;
}

1;
