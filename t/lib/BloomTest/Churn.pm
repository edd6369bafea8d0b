# A session that writes and replaces filters without end, and a check that what it
# had committed before a crash is whole after it.
package BloomTest::Churn;

use strict;
use warnings;

use Test::More;
use Time::HiRes qw(usleep);

use BloomTest;

# Makes table filters on a node.  What a committed filter has to contain is told by
# its round.
sub new
{
	my ($class, $node) = @_;
	$node->safe_psql('postgres', <<'EOC');
CREATE TABLE filters (id int PRIMARY KEY, round int, f bloomfilter);
CREATE FUNCTION keys(round int) RETURNS SETOF int LANGUAGE sql IMMUTABLE AS
'SELECT k * 7 + round FROM generate_series(1, 3000) AS k';
CREATE FUNCTION build(round int) RETURNS bloomfilter LANGUAGE sql AS
'SELECT bloom_agg(k, 200000) FROM keys(round) AS k';
CREATE PROCEDURE churn(first int) LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN first .. 1000000 LOOP
		CASE i % 4
			WHEN 0 THEN INSERT INTO filters VALUES (i, i, build(i));
			WHEN 1 THEN UPDATE filters SET f = build(i), round = i WHERE id = (SELECT min(id) FROM filters);
			WHEN 2 THEN UPDATE filters SET f = bloom_add_all(bloom_reset(f), array(SELECT k FROM keys(i) AS k)), round = i
				WHERE id = (SELECT max(id) FROM filters);
			ELSE DELETE FROM filters WHERE id < i - 40;
		END CASE;
		COMMIT;
	END LOOP;
END $$;
EOC
	return bless { node => $node, next => 0, checked => 0 }, $class;
}

# How many filters all checks have looked at.
sub checked
{
	my ($self) = @_;
	return $self->{checked};
}

# Starts the churn and returns its session when it has committed something new, at
# some moment after that.
sub start
{
	my ($self) = @_;
	my $session = session($self->{node});
	my $first = $self->{next} + 4 - $self->{next} % 4;
	$session->start("CALL churn($first)");
	$self->{node}->poll_query_until('postgres',
		"SELECT coalesce(max(round), -1) >= $first FROM filters")
	  or die 'nothing was committed';
	usleep(rand(300_000));
	return $session;
}

# Checks all filters after a crash.
sub check
{
	my ($self, $name) = @_;
	my $session = session($self->{node});
	is($session->query('SELECT count(*) FROM filters WHERE NOT bloom_verify(f)'),
		0, "$name: every filter is whole");
	is( $session->query(
			'SELECT count(*) FROM filters, keys(round) AS k WHERE NOT bloom_contains(f, k)'),
		0, "$name: every filter contains its keys");
	my ($count, $last) = split /\|/,
	  $session->query('SELECT count(*), max(round) FROM filters');
	cmp_ok($count, '>', 0, "$name: there are filters");
	cmp_ok($last, '>=', $self->{next}, "$name: and newer ones than before");
	$self->{next} = $last;
	$self->{checked} += $count;
	$session->quit;
	return;
}

1;
