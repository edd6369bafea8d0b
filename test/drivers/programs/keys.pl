# Asks by DBD::Pg, with statements that the server prepares and without, and with bytes that are
# bound as such; "keys.py" says what.
use strict;
use warnings;

use DBD::Pg qw(:pg_types);
use DBI;

sub connection
{
	my ($prepare) = @_;
	my $handle = DBI->connect('dbi:Pg:', undef, undef, { PrintError => 0 });
	$handle->{pg_server_prepare} = $prepare;
	$handle->{pg_switch_prepared} = 1;
	return $handle;
}

my %handles = ('DBD::Pg' => connection(0), 'DBD::Pg prepared' => connection(1), 'DBD::Pg PG_BYTEA' => connection(1));

sub answer
{
	my ($handle, $sql, $key, $type) = @_;
	my $statement = $handle->prepare($sql);
	$statement->bind_param(1, $key, $type);
	$statement->execute or return $statement->state;
	return ($statement->fetchrow_array)[0] ? 'true' : 'false';
}

my %keys;
while (my $line = <STDIN>)
{
	chomp $line;
	my ($kind, $way, $sql) = split /\t/, $line;
	foreach my $mode (sort keys %handles)
	{
		my $type = $mode =~ /PG_BYTEA/ ? { pg_type => PG_BYTEA } : undef;
		next if $type && $kind ne 'bytea';
		if ($way eq 'read')
		{
			$keys{$mode} = $handles{$mode}->selectcol_arrayref($sql);
			next;
		}
		print join("\t", $mode, $kind, $way, map { answer($handles{$mode}, $sql, $_, $type) } @{ $keys{$mode} }), "\n";
	}
}
