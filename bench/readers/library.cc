/*
 * library.cc
 *	  libbloomfilter beside C++'s set and Debian's libbloom.
 *
 *		library KEYS ROUNDS
 *
 * All hold the same keys. A line for each round: contender, operation, ns per
 * look-up of an integer; and once for each contender its bytes. The filter is asked
 * as a mapped file, and as a copy on huge pages.
 */
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_set>
#include <vector>

#include <bloom.h>

#include "../c/bench.h"
#include "libbloomfilter.h"

namespace {

constexpr size_t asked = 1 << 20;

using Keys = std::vector<int64_t>;

void succeed(int code)
{
	if (code == 0)
		return;
	std::fprintf(stderr, "%s\n", bloomfilter_strerror(code));
	std::exit(1);
}

void write_filter(uint64_t count, const std::string &path)
{
	bloomfilter_builder *builder;
	bloomfilter *filter;

	succeed(bloomfilter_builder_create(count, 0.01, 0, 1, &builder));
	for (uint64_t key = 0; key < count; key++)
		succeed(bloomfilter_builder_add_int64(builder, static_cast<int64_t>(key)));
	succeed(bloomfilter_builder_finish(builder, &filter, nullptr));
	bloomfilter_builder_free(builder);
	succeed(bloomfilter_write(filter, path.c_str(), nullptr));
	bloomfilter_close(filter);
}

bloomfilter *open_filter(const std::string &path, unsigned flags)
{
	bloomfilter *filter;

	succeed(bloomfilter_open(path.c_str(), flags, &filter, nullptr));
	return filter;
}

double bytes_in_use()
{
	return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd);
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

void report_filter(const std::string &name, const bloomfilter *filter, const char *operation,
				   const Keys &keys)
{
	std::vector<uint8_t> found(1000);

	report(name.c_str(), operation, keys,
		   [&](int64_t key) { return bloomfilter_contains_int64(filter, key); });

	double		start = bench_now();

	for (size_t i = 0; i + found.size() <= keys.size(); i += found.size())
		succeed(bloomfilter_contains_int64_batch(filter, &keys[i], found.size(), found.data(), nullptr));
	std::printf("%s\tbatch %s\t%.2f\n", name.c_str(), operation, (bench_now() - start) / asked);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;

	const uint64_t count = std::strtoull(argv[1], nullptr, 10);
	const std::string path = "library." + std::to_string(getpid());

	write_filter(count, path);

	bloomfilter *mapped = open_filter(path, 0);
	bloomfilter *copied = open_filter(path, BLOOMFILTER_COPY);
	std::unordered_set<int64_t> set;
	struct bloom package;
	double		before = bytes_in_use();

	unlink(path.c_str());
	for (uint64_t key = 0; key < count; key++)
		set.insert(static_cast<int64_t>(key));
	std::printf("unordered_set\tbytes\t%.0f\n", bytes_in_use() - before);
	if (bloom_init(&package, static_cast<int>(count), 0.01) != 0)
		return 1;
	for (uint64_t key = 0; key < count; key++)
		bloom_add(&package, &key, sizeof(key));
	std::printf("libbloom\tbytes\t%d\n", package.bytes);
	for (int rounds = std::atoi(argv[2]); rounds > 0; rounds--) {
		for (const char *operation : {"there", "absent"}) {
			const bool	there = operation[0] == 't';
			const Keys	keys = there ? sample(0, count) : sample(1ULL << 40, 1ULL << 40);

			report_filter("bloomfilter", mapped, operation, keys);
			report_filter("bloomfilter, huge pages", copied, operation, keys);
			report("unordered_set", operation, keys, [&](int64_t key) { return set.count(key); });
			report("libbloom", operation, keys,
				   [&](int64_t key) { return bloom_check(&package, &key, sizeof(key)); });
		}
	}
	bloomfilter_close(mapped);
	bloomfilter_close(copied);
	return 0;
}
