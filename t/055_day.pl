# A key added by day is found by day, also one whose transaction was open while
# the filter was built.  The pattern is that of doc/OPERATIONS.md.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
max_prepared_transactions = 2
});
$node->start;
$node->safe_psql('postgres', doc::operations_until('New keys by day'));

my ($day_job) = map { /(call bloom_publish\('account today'.*?;)/s } doc::operations_until('New keys by day');

sub night
{
	$node->safe_psql('postgres', q{call bloom_publish('account', 'select id from account')});
}

sub day
{
	$node->safe_psql('postgres', $day_job);
}

# The answers of the night's list alone, with the day's, and with the table.
sub answers
{
	my ($key) = @_;
	return $node->safe_psql('postgres', qq{
select night, night or day, night or day or exists (
	select from account where id = $key
		and added_xid >= (select built_xmin from bloom_list where name = 'account today'))
from (select bloom_lookup('account', $key) as night, bloom_lookup('account today', $key) as day) l});
}

# Keys that both lists deny, so that no false positive hides a lost key.
sub fresh_keys
{
	my ($count) = @_;
	return split /\n/, $node->safe_psql('postgres', qq{
select g from generate_series(600000, 700000) g
where not bloom_lookup('account', g) and not bloom_lookup('account today', g)
	and not exists (select from account where id = g)
limit $count});
}

night();
day();
my ($after, $open, $nested, $prepared, $rolled_back) = fresh_keys(5);
is(answers($after), 'f|f|f', 'a key that is not there');

$node->safe_psql('postgres', "insert into account values ($after, 'after')");
is(answers($after), 'f|f|t', 'found in the table from its commit on');
day();
is(answers($after), 'f|t|t', 'found in the lists from the next run on');
night();
is(answers($after), 't|t|t', 'and in the list of the next night');

# Transactions that are open while the lists are built.
my $session = $node->background_psql('postgres', on_error_die => 1);
my $timestamped = 'alter table account add created_at timestamptz default now()';
$node->safe_psql('postgres', $timestamped);
$session->query_safe("begin; insert into account values ($open, 'open')");
$session->query_safe("savepoint s; insert into account values ($nested, 'nested'); release s");
$session->query_safe("savepoint t; insert into account values ($rolled_back, 'gone'); rollback to t");
$node->safe_psql('postgres', qq{
begin; insert into account values ($prepared, 'prepared'); prepare transaction 'p'});
night();
day();
is(answers($_), 'f|f|f', 'a row that nobody can see is not found')
  foreach $open, $nested, $prepared;
$session->query_safe('commit');
$node->safe_psql('postgres', "commit prepared 'p'");
$session->quit;
is(answers($open), 'f|f|t', 'a row that was open during the build, in the table');
is(answers($prepared), 'f|f|t', 'a prepared one too');
day();
is(answers($_), 'f|t|t', 'and in the lists from the next run on')
  foreach $open, $nested, $prepared;
is(answers($rolled_back), 'f|f|f', 'a row that was rolled back');

# What the page warns of: the timestamp says that the row is older than the build.
is($node->safe_psql('postgres', qq{
select count(*) from account a, bloom_list s
where s.name = 'account' and a.id in ($open, $prepared) and a.created_at >= s.built_at}), '0',
	'a timestamp would lose these rows');

night();
is(answers($_), 't|t|t', 'all are in the list of the next night')
  foreach $open, $nested, $prepared;

# The old day's list beside the new night's: nothing is lost between the two jobs.
is($node->safe_psql('postgres', q{
select count(*) from account
where not (bloom_lookup('account', id) or bloom_lookup('account today', id))}), '0',
	'every key is found');

# A changed key is a new one.
my ($changed) = fresh_keys(1);
$node->safe_psql('postgres',
	"update account set id = $changed, added_xid = default where id = 5");
day();
is(answers($changed), 'f|t|t', 'a changed key is found');

# Numbers of transactions survive a crash.
$node->stop('immediate');
$node->start;
my ($crashed) = fresh_keys(1);
$node->safe_psql('postgres', "insert into account values ($crashed, 'crashed')");
day();
is(answers($crashed), 'f|t|t', 'a key added after a crash is found');

$node->stop;
done_testing();
