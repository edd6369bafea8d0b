/*
 * questions.cc
 *	  What look-ups of integers cost in C, the contenders in turns in one process.
 *
 *		questions KEYS ROUNDS CONTENDER...
 *
 * A contender is a file that holds 1 to KEYS; or unordered_set or libbloom, which are
 * filled with them. Prints contender, operation and ns per look-up of each round, and
 * once the bytes of unordered_set.
 */
#include <malloc.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include <bloom.h>

#include "../c/bench.h"
#include "libbloomfilter.h"

namespace {

constexpr size_t asked = 1 << 20;

using Keys = std::vector<int64_t>;

/* A way to look up all keys; its name is a contender and the begin of an operation. */
struct Way
{
	std::string name;
	std::function<void(const Keys &)> run;
};

std::vector<Way> ways;

/* A loop for each contender, so that none has a call more than its own. */
template <typename Ask>
void add_loop(const std::string &contender, Ask ask)
{
	ways.push_back({contender + "\t", [ask](const Keys &keys) {
		uint64_t	found = 0;

		for (int64_t key : keys)
			found += ask(key);
		bench_use(found);
	}});
}

size_t bytes_in_use()
{
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

void add_set(int64_t count)
{
	static std::unordered_set<int64_t> set;
	size_t		before = bytes_in_use();

	for (int64_t key = 1; key <= count; key++)
		set.insert(key);
	std::printf("unordered_set\tbytes\t%zu\n", bytes_in_use() - before);
	add_loop("unordered_set", [](int64_t key) { return set.count(key); });
}

void add_libbloom(int64_t count)
{
	static struct bloom filter;

	if (bloom_init(&filter, static_cast<int>(count), 0.01) != 0)
		std::exit(1);
	for (int64_t key = 1; key <= count; key++)
		bloom_add(&filter, &key, sizeof(key));
	add_loop("libbloom", [](int64_t key) { return bloom_check(&filter, &key, sizeof(key)); });
}

void add_file(const std::string &path)
{
	static std::vector<uint8_t> found(asked);
	bloomfilter *filter;
	bloomfilter_detail detail;

	if (bloomfilter_open(path.c_str(), 0, &filter, &detail) < 0)
	{
		std::fprintf(stderr, "%s: %s\n", path.c_str(), detail.text);
		std::exit(1);
	}
	add_loop(path, [filter](int64_t key) { return bloomfilter_contains_int64(filter, key); });
	ways.push_back({path + "\tbatch ", [filter](const Keys &keys) {
		if (bloomfilter_contains_int64_batch(filter, keys.data(), asked, found.data(), nullptr) < 0)
			std::exit(1);
	}});
}

/* Asks for others each time: what was just asked is in the processor's cache. */
void measure(const Way &way, const std::string &operation, int64_t count)
{
	static uint64_t random = 0;
	static Keys keys(asked);

	for (int64_t &key : keys)
	{
		uint64_t	number = bench_mix(random++);

		key = static_cast<int64_t>(operation == "there" ? 1 + number % static_cast<uint64_t>(count) : number);
	}

	double		start = bench_now();

	way.run(keys);
	std::printf("%s%s\t%.2f\n", way.name.c_str(), operation.c_str(), (bench_now() - start) / asked);
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;

	const int64_t count = std::atoll(argv[1]);

	for (const std::string contender : std::vector<std::string>(argv + 3, argv + argc))
	{
		if (contender == "unordered_set")
			add_set(count);
		else if (contender == "libbloom")
			add_libbloom(count);
		else
			add_file(contender);
	}
	for (int rounds = std::atoi(argv[2]); rounds > 0; rounds--)
	{
		for (const char *operation : {"there", "absent"})
		{
			for (const Way &way : ways)
				measure(way, operation, count);
		}
	}
	return 0;
}
