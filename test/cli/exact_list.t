# exact_list.t
#	  Exact lists: pull and export refuse them, and keep what they had.
#
# A bit that is set in an exact filter without the others denies a member.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;

use CommandLine;
use Server;
use Test::More;

my $dsn = own_database('bloomfilter_cli_exact');
my $refused = qr/is exact, and this version does not carry exact lists/;

sql(q{CREATE TABLE users AS SELECT g::int8 AS id, g % 2 = 0 AS active FROM generate_series(1, 2000) AS g});
sql(q{CALL ext.bloom_publish('users', 'SELECT id FROM users WHERE active')});
is((run('', 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'plain.bloom'))[0], 0, 'a plain list is pulled');
is((run('', 'export', '--dsn', $dsn, '--list', 'users', '--to', 'folder'))[0], 0, 'and exported');
my $manifest = slurp('folder/manifest');
my $blocks = substr slurp('plain.bloom'), 4096;

sql(q{CALL ext.bloom_publish('users', 'SELECT id, active FROM users', allow_type_change => true)});
my ($status, $out, $err) = run('', 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'plain.bloom');
is($status, 1, 'pull refuses the list when it became exact');
like($err, $refused, 'and says why');
is(substr(slurp('plain.bloom'), 4096), $blocks, 'its file has the bits that it had');
($status, $out, $err) = run('', 'export', '--dsn', $dsn, '--list', 'users', '--to', 'folder');
is($status, 2, 'so does export');
like($err, $refused, 'which says why, too');
is(slurp('folder/manifest'), $manifest, 'its folder is what it was');
is((run('', 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'new.bloom'))[0], 1, 'nor does pull begin with one');
ok(!-e 'new.bloom', 'and makes no file of it');

sql(q{CALL ext.bloom_publish('users', 'SELECT id FROM users WHERE active', allow_type_change => true)});
is((run('', 'pull', '--dsn', $dsn, '--list', 'users', '--out', 'plain.bloom'))[0], 0, 'one that is plain again is pulled again');
is((run('', 'export', '--dsn', $dsn, '--list', 'users', '--to', 'folder'))[0], 0, 'and exported again');

done_testing();
