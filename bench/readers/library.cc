/*
 * library.cc
 *	  libbloomfilter beside C++'s set and Debian's libbloom.
 *
 *		library FILTER_KEYS SET_KEYS ROUNDS
 *
 * A line for each round: contender, operation, ns per look-up of an integer.
 */
#include <cstdio>
#include <cstdlib>
#include <unordered_set>
#include <vector>

#include <bloom.h>

#include "../c/bench.h"
#include "libbloomfilter.h"

namespace {

constexpr size_t asked = 1 << 20;

using Keys = std::vector<int64_t>;

bloomfilter *make_filter(uint64_t count)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;

	if (bloomfilter_builder_create(count, 0.01, 0, &builder) != 0)
		std::exit(1);
	for (uint64_t key = 0; key < count; key++)
		bloomfilter_builder_add_int64(builder, static_cast<int64_t>(key));
	if (bloomfilter_builder_finish(builder, &filter, nullptr) != 0)
		std::exit(1);
	bloomfilter_builder_free(builder);
	return filter;
}

Keys sample(uint64_t from, uint64_t count)
{
	Keys		keys(asked);

	for (size_t i = 0; i < asked; i++)
		keys[i] = static_cast<int64_t>(from + bench_mix(i) % count);
	return keys;
}

template <typename Ask>
void report(const char *contender, const char *operation, const Keys &keys, Ask ask)
{
	uint64_t	found = 0;
	double		start = bench_now();

	for (int64_t key : keys)
		found += ask(key);
	std::printf("%s\t%s\t%.2f\n", contender, operation, (bench_now() - start) / asked);
	bench_use(found);
}

void report_batch(const char *operation, const bloomfilter *filter, const Keys &keys)
{
	std::vector<uint8_t> found(1000);
	double		start = bench_now();

	for (size_t i = 0; i + found.size() <= keys.size(); i += found.size())
		bloomfilter_contains_int64_batch(filter, &keys[i], found.size(), found.data(), nullptr);
	std::printf("bloomfilter batch\t%s\t%.2f\n", operation, (bench_now() - start) / asked);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;

	const uint64_t count = std::strtoull(argv[1], nullptr, 10);
	const uint64_t in_set = std::strtoull(argv[2], nullptr, 10);
	bloomfilter *filter = make_filter(count);
	std::unordered_set<int64_t> set;
	struct bloom package;

	bloom_init(&package, static_cast<int>(in_set), 0.01);
	for (uint64_t key = 0; key < in_set; key++) {
		set.insert(static_cast<int64_t>(key));
		bloom_add(&package, &key, sizeof(key));
	}
	for (int rounds = std::atoi(argv[3]); rounds > 0; rounds--) {
		for (const char *operation : {"there", "absent"}) {
			const bool	there = operation[0] == 't';
			const Keys	ours = there ? sample(0, count) : sample(1ULL << 40, 1ULL << 40);
			const Keys	theirs = there ? sample(0, in_set) : ours;

			report("bloomfilter", operation, ours,
				   [&](int64_t key) { return bloomfilter_contains_int64(filter, key); });
			report_batch(operation, filter, ours);
			report("unordered_set", operation, theirs, [&](int64_t key) { return set.count(key); });
			report("libbloom", operation, theirs,
				   [&](int64_t key) { return bloom_check(&package, &key, sizeof(key)); });
		}
	}
	bloomfilter_close(filter);
	return 0;
}
