# README.md: each SQL block runs as it stands, in order, in a fresh database.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/lib";

use BloomTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init;
$node->start;

my @blocks = doc::sql_blocks('README.md');
ok(@blocks >= 6, 'README.md has examples');
foreach my $block (@blocks)
{
	my ($status, $out, $err) = $node->psql('postgres', $block->{sql}, on_error_stop => 1);

	is($status, 0, "line $block->{line}, $block->{section}: runs") or diag $err;
	unlike($err, qr/WARNING/, "line $block->{line}, $block->{section}: does not warn");
}
is($node->safe_psql('postgres', q{
select count(*) from users, whitelist where name = 'users' and not filter @> id}),
	'0', 'the filter of the 60 seconds contains all its users');
is($node->safe_psql('postgres', q{select bloom_missing('users', id) from users}),
	'0', 'and so does the list');

$node->stop;
done_testing();
