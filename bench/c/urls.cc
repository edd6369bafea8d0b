/*
 * urls.cc
 *	  URLs remembered by the sets of C++'s library, by the textbook's filter, and
 *	  by ours.
 *
 *		urls CONTAINER COUNT P		unordered_map, unordered_set, textbook or
 *									bloomfilter
 *
 * Prints a line: seconds to add the URLs, seconds to ask for as many that are
 * there, seconds for as many that are not, bytes, share of the absent found.  One
 * container per process, so that the memory is its own; making the URLs is part
 * of each time, and the same for all.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <malloc.h>

extern "C" {
#include "bf_filter.h"
#include "bf_sizing.h"
}
#include "textbook.h"

namespace {

constexpr std::string_view prefix = "https://blog.csdn.net/muyuyuzhong/article/details/";

/* URL number i, in a buffer of its own. */
class Url {
public:
	Url() { std::memcpy(text_, prefix.data(), prefix.size()); }

	std::string_view make(uint64_t i)
	{
		char		digits[20];
		int			count = 0;

		do
			digits[count++] = static_cast<char>('0' + i % 10);
		while ((i /= 10) > 0);
		for (int j = 0; j < count; j++)
			text_[prefix.size() + j] = digits[count - 1 - j];
		return {text_, prefix.size() + count};
	}

private:
	char		text_[prefix.size() + 20];
};

size_t heap_bytes()
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

struct Map {
	Map(uint64_t, double) {}
	void add(std::string_view url) { urls.emplace(url, true); }
	bool contains(std::string_view url) const { return urls.count(std::string(url)) > 0; }
	size_t bytes(size_t heap) const { return heap; }
	std::unordered_map<std::string, bool> urls;
};

struct Set {
	Set(uint64_t, double) {}
	void add(std::string_view url) { urls.emplace(url); }
	bool contains(std::string_view url) const { return urls.count(std::string(url)) > 0; }
	size_t bytes(size_t heap) const { return heap; }
	std::unordered_set<std::string> urls;
};

struct Textbook {
	Textbook(uint64_t n, double p) : filter(textbook_create(n, p)) {}
	void add(std::string_view url) { textbook_add(&filter, bf_hash(url.data(), url.size(), 0)); }
	bool contains(std::string_view url) const
	{
		return textbook_contains(&filter, bf_hash(url.data(), url.size(), 0));
	}
	size_t bytes(size_t) const { return filter.bits / 8; }
	textbook	filter;
};

struct Bloomfilter {
	Bloomfilter(uint64_t n, double p)
	{
		bf_sizing	sizing;

		if (!bf_size_for_rate(n, p, &sizing) || !bf_sizing_fits(&sizing))
			std::exit(1);
		header = bf_sizing_header(&sizing, 0);
		blocks = static_cast<uint8_t *>(bench_memory(bf_blocks_bytes(&header)));
	}
	void add(std::string_view url) { bf_add(&header, blocks, bf_hash(url.data(), url.size(), 0)); }
	bool contains(std::string_view url) const
	{
		return bf_contains(&header, blocks, bf_hash(url.data(), url.size(), 0));
	}
	size_t bytes(size_t) const { return bf_total_bytes(&header); }
	bf_header	header;
	uint8_t    *blocks;
};

template <typename Container>
uint64_t ask(const Container &container, uint64_t first, uint64_t count)
{
	Url			url;
	uint64_t	found = 0;

	for (uint64_t i = first; i < first + count; i++)
		found += container.contains(url.make(i));
	return found;
}

template <typename Container>
int run(uint64_t count, double p)
{
	size_t		before = heap_bytes();
	double		start = bench_now();
	Container	container(count, p);
	Url			url;

	for (uint64_t i = 0; i < count; i++)
		container.add(url.make(i));
	double		added = bench_now();
	size_t		bytes = container.bytes(heap_bytes() - before);

	if (ask(container, 0, count) != count)
		return 1;
	double		asked = bench_now();
	uint64_t	wrong = ask(container, count, count);

	std::printf("%.3f\t%.3f\t%.3f\t%zu\t%.8f\n", (added - start) / 1e9, (asked - added) / 1e9,
				(bench_now() - asked) / 1e9, bytes,
				static_cast<double>(wrong) / static_cast<double>(count));
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc == 4) {
		const std::string_view container = argv[1];
		const uint64_t count = std::strtoull(argv[2], nullptr, 10);
		const double p = std::atof(argv[3]);

		if (container == "unordered_map")
			return run<Map>(count, p);
		if (container == "unordered_set")
			return run<Set>(count, p);
		if (container == "textbook")
			return run<Textbook>(count, p);
		if (container == "bloomfilter")
			return run<Bloomfilter>(count, p);
	}
	std::fprintf(stderr, "usage: urls CONTAINER COUNT P\n");
	return 2;
}
