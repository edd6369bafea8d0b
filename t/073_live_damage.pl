# A live index whose file was damaged gives errors and no answers; and an index of another
# session's temporary table is none to be asked.
use BloomTest;

use constant PAGE => 8192;

my $node = new_node('live_damage', initdb => ['--data-checksums']);
$node->safe_psql('postgres', <<'EOC');
CREATE TABLE keys (id bigint);
INSERT INTO keys SELECT generate_series(1, 50000);
CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = 1);
CREATE INDEX keys_even ON keys USING bloomfilter (id) WITH (n = 40000, p = 0.001, seed = 7) WHERE id % 2 = 0;
INSERT INTO keys SELECT generate_series(50001, 100000);
EOC
our $path = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('keys_id')");
# A page of a B-tree, to be put among its pages.
$node->safe_psql('postgres', 'CREATE INDEX keys_other ON keys (id); CHECKPOINT');
my $btree = slurp_file($node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('keys_other')"));
$node->safe_psql('postgres', 'DROP INDEX keys_other');

our $index = 'keys_id';
our $ask = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys_id', id)) FROM keys";
our $verify = "SELECT bloom_index_verify('keys_id')";
my $plan = "EXPLAIN SELECT FROM keys WHERE bloom_index_contains('keys_id', id)";

sub write_file
{
	my ($name, $bytes) = @_;
	open(my $file, '>:raw', $name) or die "$name: $!";
	print $file $bytes;
	close($file);
	return;
}

# The file as it is when nobody has changed it, by its path, and the path of one that was changed.
my (%whole, $changed);

# Changes bytes of the index's file while the server is down, after what the last one changed is undone.
sub restart_with
{
	my ($change) = @_;
	$node->stop;
	write_file($changed, $whole{$changed}) if defined $changed;
	$whole{$path} //= slurp_file($path);
	my $after = $whole{$path};
	$change->(\$after) if defined $change;
	write_file($path, $after);
	$changed = $path;
	$node->start;
	return;
}

# Asks for a changed index.  Returns the SQLSTATEs of asking for all keys, of a snapshot and of verifying, and then those
# of a plan and of VACUUM, which need no page.
sub states_after
{
	my ($change, @settings) = @_;
	restart_with($change);
	my $session = session($node);
	$session->query("SET bloomfilter.overflow = ignore");
	$session->query($_) foreach @settings;
	my @states = map { $session->state_of($_) } $ask, "SELECT bloom_snapshot('$index')", $verify, $plan, 'VACUUM (FREEZE) keys';
	$session->quit;
	return join ' ', @states;
}

my $damaged = 'XX001 XX001 XX001  ';
my $flip = sub {
	my ($page, $byte) = @_;
	return sub { substr(${ $_[0] }, $page * PAGE + $byte, 1) ^= "\x01" };
};
is(states_after(sub { }), '    ', 'an index that is whole is asked');
is(states_after($flip->(1, 5000)), $damaged, 'a bit that flipped in a block is found by the checksum');
is(states_after($flip->(1, 5000), 'SET zero_damaged_pages = on'), $damaged,
	'a page that was zeroed for its damage is an error, not a "no"');
is(states_after(sub { substr(${ $_[0] }, PAGE, PAGE) = "\0" x PAGE }), $damaged, 'so is one that is empty');
is(states_after(sub { substr(${ $_[0] }, -PAGE()) = "\0" x PAGE }), $damaged, 'and an overflow page');
is(states_after(sub { substr(${ $_[0] }, 0, PAGE) = "\0" x PAGE }), $damaged, 'and the meta page');
is(states_after(sub { ${ $_[0] } = substr(${ $_[0] }, 0, -10 * PAGE) }), $damaged, 'a file that ends early is an error');

# Whoever writes to the table is told what to do, also where PostgreSQL finds the damage.
sub insert_with
{
	my ($change) = @_;
	restart_with($change);
	return ($node->psql('postgres', 'INSERT INTO keys SELECT generate_series(1, 1000)'))[2];
}
my $cure = qr/HINT:  Rebuild the index with REINDEX INDEX CONCURRENTLY, or remove it with DROP INDEX\.\nCONTEXT:  adding a key to bloomfilter index "keys_id"/;
like(insert_with($flip->(1, 5000)), qr/invalid page in block 1 of.*$cure/s, 'a page with a wrong checksum: an insertion tells what to do');
like(insert_with(sub { substr(${ $_[0] }, PAGE, PAGE) = "\0" x PAGE }), qr/page 1 of index "keys_id" is damaged.*$cure/s, 'so for an empty one');
like(insert_with(sub { substr(${ $_[0] }, 0, PAGE) = "\0" x PAGE }), qr/page 0 of index "keys_id" is damaged.*$cure/s, 'and for the meta page');

# Without checksums, by what the pages say of themselves.
$node->stop;
system_or_bail('pg_checksums', '--disable', '-D', $node->data_dir);
$node->start;
is(states_after(sub { substr(${ $_[0] }, 2 * PAGE, PAGE) = substr(${ $_[0] }, 3 * PAGE, PAGE) }), $damaged,
	'a page in another\'s place is an error');
# Of level 0 nothing but its own number tells a page from another one.
my $even = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('keys_even')");
{
	local $index = 'keys_even';
	local $path = $even;
	local $ask = "SELECT count(*) FILTER (WHERE NOT bloom_index_contains('keys_even', id)) FROM keys WHERE id % 2 = 0";
	local $verify = "SELECT bloom_index_verify('keys_even')";
	my $swap = sub {
		my $first = substr(${ $_[0] }, PAGE, PAGE);
		substr(${ $_[0] }, PAGE, PAGE) = substr(${ $_[0] }, 2 * PAGE, PAGE);
		substr(${ $_[0] }, 2 * PAGE, PAGE) = $first;
	};
	is(states_after($swap), $damaged, 'so are two pages that have changed places');
}
is(states_after($flip->(0, 60)), $damaged, 'so is a changed number in the meta page');
is(states_after($flip->(1, 28)), $damaged, 'and a page of another level');
is(states_after($flip->(1, 36)), $damaged, 'and one that names others as its overflow pages');
is(states_after(sub { substr(${ $_[0] }, PAGE, PAGE) = substr($btree, PAGE, PAGE) }), $damaged, 'and one of another kind of index');
is(states_after(sub { ${ $_[0] } = '' }), $damaged, 'and no page at all');
is(states_after(sub { substr(${ $_[0] }, PAGE + 64, PAGE - 64) = "\xfe" . "\xff" x (PAGE - 65) }), '  XX001  ', 'bits behind the blocks are damage');

restart_with(undef);

# Temporary tables.
my $owner = session($node);
$owner->query('CREATE TEMP TABLE own (id int); CREATE INDEX own_id ON own USING bloomfilter (id); INSERT INTO own VALUES (1)');
my $schema = $owner->query('SELECT pg_my_temp_schema()::regnamespace');
my $other = session($node);
is($other->state_of("SELECT bloom_index_contains('$schema.own_id', 1)"), '0A000',
	'the filter of another session\'s temporary table is not asked');
is($other->query("SELECT count(*) FROM bloom_live WHERE indexname ~ 'own_id'"), '1', 'but listed');
$other->quit;
is($owner->query("SELECT bloom_index_contains('own_id', 1), bloom_index_contains('own', 'id', 2)"), 't|f', 'its own session asks it');
$owner->quit;

unlike(slurp_file($node->logfile), qr/refcount leak|still referenced/, 'no page stays pinned');

finish($node);
