# Keys as drivers send them: parameters without a type, in the extended protocol, are
# read as the filter's kind.  doc/DRIVERS.md has a table of drivers.

use strict;
use warnings FATAL => 'all';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The distribution's own, which has the drivers.
my $python = '/usr/bin/python3';
plan skip_all => 'needs python3-psycopg and python3-psycopg2'
	if system("$python -c 'import psycopg, psycopg2' 2>/dev/null") != 0;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
create extension bloomfilter;
create table held (kind text, filter bloomfilter);
insert into held values
	('integer', bloom_add(bloom_create(10, 1e-9), 42)),
	('text', bloom_add(bloom_create(10, 1e-9), 'a'::text)),
	('uuid', bloom_add(bloom_create(10, 1e-9), '00000000-0000-0000-0000-000000000042'::uuid)),
	('numeric', bloom_add(bloom_create(10, 1e-9), 1.5)),
	('float', bloom_add(bloom_create(10, 1e-9), 1.5::float8)),
	('date', bloom_add(bloom_create(10, 1e-9), '2024-01-01'::date)),
	('bytea', bloom_add(bloom_create(10, 1e-9), 'abc'::bytea)),
	('inet', bloom_add(bloom_create(10, 1e-9), '10.0.0.1'::inet));
});

my $answers;
run_log([ $python, "$FindBin::RealBin/lib/drivers.py", $node->connstr('postgres') ], '>', \$answers);

# What each driver answered; an error where a key needs a type.
my $uuid = '00000000-0000-0000-0000-000000000042';
my %expected = (
	'psycopg2' => q{
integer int: True [True, False] [] [42]
text str: True [True, False] [] ['a']
uuid str: True 42804 [] 42804
numeric Decimal: True [True, False] [] [Decimal('1.5')]
float float: 42804 42804 [] 42804
date date: True [True, False] [] [datetime.date(2024, 1, 1)]
bytea bytes: True [True, False] [] 1
inet str: True 42804 [] 42804
},
	'psycopg' => qq{
integer int: True [True, False] [] [42]
text str: True [True, False] [] ['a']
uuid str: True [True, False] [] ['$uuid']
numeric Decimal: True [True, False] [] [Decimal('1.5')]
float float: True [True, False] [] [1.5]
date date: True [True, False] [] [datetime.date(2024, 1, 1)]
bytea bytes: True [True, False] [] 1
inet str: True [True, False] [] ['10.0.0.1']
},
	# As node-postgres, lib/pq and others send everything: text of no type.
	'untyped' => qq{
integer str: True [True, False] [] ['42']
text str: True [True, False] [] ['a']
uuid str: True [True, False] [] ['$uuid']
numeric str: True [True, False] [] ['1.5']
float str: 42804 42804 [] 42804
date str: 42804 42804 [] 42804
bytea str: 42804 42804 [] 42804
inet str: True [True, False] [] ['10.0.0.1']
unreadable: 22P02
no filter tells the kind: 42P18
added: True
},
);
foreach my $driver (sort keys %expected)
{
	my ($got) = $answers =~ /^== $driver$(.*?)(?=^==|\z)/ms;
	is($got, $expected{$driver}, "$driver: a key, a list of keys, an empty list, the matches");
}

$node->stop;
done_testing();
