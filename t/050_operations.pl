# doc/OPERATIONS.md: each SQL block runs as it stands, in order, in a fresh
# database, and the patterns do what the page says of them.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::Bin/lib";

use BloomTest qw(server_version);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

require "$FindBin::Bin/050_doc.pm";

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', q{
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', 'create database operations');

sub value
{
	my ($sql) = @_;
	return $node->safe_psql('operations', $sql);
}

foreach my $block (doc::sql_blocks('doc/OPERATIONS.md'))
{
	my $where = "$block->{section}, line $block->{line}";
	my ($out, $err) = doc::shown($node, 'operations', $block->{sql});
	is($err, '', "$where runs without a message");
	next if !defined $block->{output} || $block->{sql} =~ /explain \(analyze/;
	is($out, $block->{output}, "$where: shows what the page shows");
}

# What the page says of the nights, after all of its statements.
is(value(q{
select count(*) from account
where not (bloom_lookup('account', id) or bloom_lookup('account today', id) or id = 200002)}), 0,
	'no member is denied');
is(value(q{select string_agg(name, ', ' order by name) from bloom_published}), 'account, account today',
	'and two lists are published');
is(value(q{
select count(*) from account join whitelist_part on name = 'account' and part = bloom_part(id, 8)
where id < 100000 and not bloom_contains(filter, id)}), 0, 'the set of one\'s own finds every key of its night');
like(value(q{explain (costs off) select part, bloom_part_agg(id, 8, 200000, 0.01)
from (select id, bloom_part(id, 8) as part from account offset '0') keys group by part}),
	qr/HashAggregate/, 'and is hashed, not sorted');

# The rights of the roles of the page, no more and no less.
sub allowed
{
	my ($role, $sql) = @_;
	my ($status) = $node->psql('operations', "set role $role; $sql", on_error_stop => 1);
	return $status == 0;
}

my %may = (
	nightly => "call bloom_publish('of nightly', 'select id from account')",
	app => "select bloom_lookup('account', 1), bloom_lookup_each('account', '{1}')",
	filter_puller => 'select filter from bloom_list join bloom_list_part using (name)',
	watcher => 'select * from bloom_published');
foreach my $role (sort keys %may)
{
	foreach my $other (sort keys %may)
	{
		is(allowed($role, $may{$other}) ? 1 : 0, $role eq $other ? 1 : 0, "$role and what is for $other");
	}
}
value(q{select bloom_drop('of nightly')});

# Each alert is silent where all is well, and speaks where it is not.
my ($monitoring) = grep { $_->{section} eq 'Watch' } doc::sql_blocks('doc/OPERATIONS.md');
my %alert = $monitoring->{sql} =~ /^-- (\d)\.[^\n]*\n(.*?;)/msg;
is(scalar(keys %alert), 8, 'there are eight alerts');
value(q{select bloom_drop('account today'); call bloom_publish('account', 'select id from account');
call bloom_publish('account', 'select id from account')});
is(value($alert{$_}), '', "alert $_ is silent") foreach sort keys %alert;
my %wrong = (
	1 => q{update bloom_generation set built_at = now() - interval '2 days'},
	2 => q{set bloomfilter.overflow = ignore; set client_min_messages = error;
		select 'published' from (select bloom_publish('account', bloom_agg(id, 50000, 0.01)) from account) p},
	3 => q{update bloom_generation set measured_rate = 0.02},
	4 => q{call bloom_publish('account', 'select id from account', "check" => false)},
	5 => q{call bloom_publish('account', 'select id from account where id <= 70000')},
	6 => q{update bloom_generation set refused_at = now(), refusal = 'list was not published'},
	7 => q{select from bloom_drop('account')},
	8 => q{insert into account select g, '' from generate_series(1000000, 1600000) g});
foreach my $number (sort keys %alert)
{
	like(value("begin isolation level repeatable read; $wrong{$number}; $alert{$number} rollback;"),
		qr/^(public\|)?account(_live)?(\||$)/m, "alert $number speaks");
}

# Errors that are looked for by their text have it.
my $sources = join '', map { slurp_file($_) } glob(doc::root() . '/src/pg/*/*.c ' . doc::root() . '/src/core/*.c');
$sources =~ s/\\"/"/g;
my @texts = slurp_file(doc::root() . '/doc/RUNBOOK.md') =~ /^\| `([^`]*)`[^|]*\| [^|]*\| [^|]*\|$/mg;
my %elsewhere = map { $_ => 1 } ('permission denied for table bloom_generation',
	'permission denied for function bloom_lookup', "cannot execute \xe2\x80\xa6 in a read-only transaction");
my $looked_for = 0;
foreach my $text (@texts)
{
	next if $elsewhere{$text} || $text !~ /list|bloom|progress|stored/;
	my $pattern = join '[^\n]{1,80}?', map { quotemeta } split /\xe2\x80\xa6/, $text, -1;
	ok($sources =~ /$pattern/, "an error says: $text");
	$looked_for++;
}
cmp_ok($looked_for, '>=', 14, 'all of them were looked for');

# A way back that isn't there is an error, and a publisher in a block waits for nobody.
sub refused
{
	my ($sql, $message, $name) = @_;
	my ($status, $out, $err) = $node->psql('operations', $sql);
	like($err, $message, $name);
}

refused(q{select bloom_rollback('account'); select bloom_rollback('account')},
	qr/has no generation before/, 'the way back is one step');

$node->stop;
done_testing();
