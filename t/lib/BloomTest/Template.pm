# The first server of a test begins with a copy of the files that initdb has made for the first test
# of the run, of those that run at once each of the first: initdb takes a second of processor time.
# A second server's are made anew, as copies have the same system identifier, by which hosts and
# indexes know a cluster.
package BloomTest::Template;

use strict;
use warnings;

use PostgreSQL::Test::Utils;

my $made = 0;
my $run = \&PostgreSQL::Test::Utils::system_or_bail;

# initdb -D FOLDER -A trust -N [OPTION]...
sub copy
{
	my (undef, undef, $folder, @options) = @_;
	my $template = "$PostgreSQL::Test::Utils::tmp_check/template" . join('', @options) =~ s/\W/_/gr;
	if (!-d $template)
	{
		$run->('initdb', '-D', "$template.$$", @options);
		# another test may have been first
		rename "$template.$$", $template;
	}
	return $run->('cp', '-a', $template, $folder);
}

{
	no warnings 'redefine';
	*PostgreSQL::Test::Utils::system_or_bail = sub {
		my $copies = $_[0] eq 'initdb' && !$made++ && !grep { m{^--waldir} } @_;
		return $copies ? copy(@_) : $run->(@_);
	};
}

1;
