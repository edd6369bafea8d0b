# A dump with published lists and a live index is restored by the owner of a database
# who is no superuser: nothing fails, the lists are whole, and rights are as they were.
# Rights that another role has granted can be restored by nobody but that role; then
# they are left out and granted anew.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/lib";

use Test::More;

use PostgreSQL::Test::Utils;

use BloomTest;

my $node = new_node('restore');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->safe_psql('postgres', <<'EOC');
CREATE ROLE shop LOGIN;
CREATE ROLE other_shop LOGIN;
CREATE ROLE asker LOGIN;
CREATE ROLE fetcher LOGIN;
CREATE ROLE watcher LOGIN;
EOC

my $content = <<'EOC';
SELECT g, md5(bloomfilter_send(filter))
FROM bloom_generation g JOIN bloom_generation_part p USING (name, back) ORDER BY name, back, part
EOC

# What a role is told in a database; an error is its SQLSTATE.
sub told
{
	my ($dbname, $role, $sql) = @_;
	my $session = session($node, dbname => $dbname, on_connect => "SET ROLE $role");
	my ($out, $state) = $session->try($sql);
	$session->quit;
	return $state || $out;
}

my $grants = <<'EOC';
GRANT EXECUTE ON FUNCTION bloom_lookup(text, anyelement) TO asker;
GRANT SELECT ON bloom_list, bloom_list_part TO fetcher;
GRANT SELECT ON bloom_published TO watcher;
EOC

# Who owns what is dumped (undef: the superuser), what the restore needs besides, who restores.
my @cases = (
	[ 'by the owner of both', 'shop', [], 'shop' ],
	[ 'by another owner', 'shop', [ '--no-owner', '--no-privileges' ], 'other_shop' ],
	[ 'of a superuser\'s database', undef, ['--no-owner'], 'shop' ]);
my $number = 0;
foreach my $case (@cases)
{
	my ($name, $owner, $options, $restores) = @$case;
	my ($from, $to) = map { "$_" . ++$number } 'source', 'target';
	$owner //= (getpwuid($<))[0];
	$node->safe_psql('postgres', "CREATE DATABASE $from OWNER \"$owner\" TEMPLATE template0");
	$node->safe_psql('postgres', "CREATE DATABASE $to OWNER $restores TEMPLATE template0");
	my $as = sub { return $node->connstr($_[0]) . " user=$_[1]" };
	$node->safe_psql($from, <<"EOC", extra_params => [ '-U', $owner ]);
CREATE EXTENSION bloomfilter;
CREATE TABLE account (id bigint);
INSERT INTO account SELECT generate_series(1, 20000);
CREATE INDEX account_live ON account USING bloomfilter (id);
CALL bloom_publish('account', 'SELECT id FROM account WHERE id <= 10000', parts => 3);
CALL bloom_publish('account', 'SELECT id FROM account', parts => 3);
CALL bloom_publish('few', 'SELECT id FROM account WHERE id <= 10');
$grants
EOC
	$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $as->($from, $owner) ], "$name: a dump");
	$node->command_ok([ 'pg_restore', '--exit-on-error', @$options, '-d', $as->($to, $restores), $dump ],
		"$name: is restored");
	is($node->safe_psql($to, $content), $node->safe_psql($from, $content), "$name: with all lists");
	is(told($to, $restores, <<'EOC'), '0|0', "$name: who restores may ask, and no key is missing");
SELECT count(*) FILTER (WHERE NOT bloom_lookup('account', id)),
	count(*) FILTER (WHERE NOT bloom_index_contains('account_live', id)) FROM account
EOC
	if (grep { $_ eq '--no-privileges' } @$options)
	{
		is(told($to, 'asker', "SELECT bloom_lookup('few', 10::bigint)"), '42501', "$name: nobody else may ask");
		is(told($to, $restores, $grants), '', "$name: until it is granted");
	}
	is(told($to, 'asker', "SELECT bloom_lookup('few', 10::bigint)"), 't', "$name: an asker asks");
	is(told($to, 'asker', 'SELECT filter FROM bloom_list_part'), '42501', "$name: and reads no filter");
	is(told($to, 'fetcher', 'SELECT count(*) FROM bloom_list_part'), '4', "$name: a fetcher fetches");
	is(told($to, 'watcher', "SELECT keys FROM bloom_published WHERE name = 'account'"), '20000', "$name: a watcher watches");
	is(told($to, $restores, "CALL bloom_rollback('account'); SELECT bloom_lookup('account', 1)"), 't', "$name: the way back is there");
	is(told($to, $restores, "CALL bloom_publish('account', 'SELECT id FROM account'); SELECT keys FROM bloom_list WHERE name = 'account'"),
		'20000', "$name: and the next night");
	is(told($to, $restores, 'GRANT SELECT ON bloom_list TO asker'), '', "$name: who restores may let others");
}

# The extension is handed over with its database by REASSIGN OWNED and DROP OWNED: the new owner
# publishes and grants, and nobody has to be a superuser for it.
{
	$node->safe_psql('postgres', 'CREATE ROLE leaves LOGIN; CREATE ROLE comes LOGIN; CREATE DATABASE handed OWNER leaves TEMPLATE template0');
	is(told('handed', 'leaves', "CREATE EXTENSION bloomfilter; CREATE TABLE account AS SELECT generate_series(1, 2000)::bigint AS id;
CALL bloom_publish('account', 'SELECT id FROM account'); $grants"), '', 'handed over: published by the owner that leaves');
	$node->safe_psql('handed', 'REASSIGN OWNED BY leaves TO comes');
	is(told('handed', 'comes', $grants), '', 'handed over: the new owner grants the same rights');
	$node->safe_psql('handed', 'DROP OWNED BY leaves; DROP ROLE leaves');
	is(told('handed', 'asker', "SELECT bloom_lookup('account', 10::bigint)"), 't', 'handed over: an asker asks');
	is(told('handed', 'watcher', 'SELECT published_by FROM bloom_published'), 'leaves', 'handed over: a watcher watches');
	is(told('handed', 'comes', "CALL bloom_refresh('account')"), '42501', 'handed over: the query is still that of the role that is gone');
	is(told('handed', 'comes', "CALL bloom_publish('account', 'SELECT id FROM account')"), '', 'handed over: the new owner publishes');
	is(told('handed', 'comes', "CALL bloom_refresh('account'); SELECT published_by FROM bloom_published"), 'comes', 'handed over: and refreshes');
	is(told('handed', 'asker', "SELECT bloom_lookup('account', 10::bigint)"), 't', 'handed over: an asker asks then');
	$node->command_ok([ 'pg_dump', '-Fc', '-f', "$dump.handed", '-d', $node->connstr('handed') ], 'handed over: a dump');
	$node->safe_psql('postgres', 'CREATE DATABASE handed2 OWNER comes TEMPLATE template0');
	# Up to 16 PostgreSQL keeps a dropped role's initial rights, and dumps their removal by number.
	$node->command_ok([ 'pg_restore', '--exit-on-error', '--no-privileges', '-d', $node->connstr('handed2') . ' user=comes', "$dump.handed" ],
		'handed over: is restored by the new owner');
	is(told('handed2', 'comes', $grants), '', 'handed over: who grants again');
	is(told('handed2', 'asker', "SELECT bloom_lookup('account', 10::bigint)"), 't', 'handed over: and an asker asks there');
}

stayed_alive($node);
$node->stop;
done_testing();
