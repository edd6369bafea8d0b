// What look-ups of integers cost in Go, the contenders in turns in one process.
//
//	questions KEYS ROUNDS CONTENDER...
//
// A contender is a file that holds 1 to KEYS; or map or willf/bloom (Debian's
// golang-github-willf-bloom-dev), which are filled with them. Prints contender, operation
// and ns per look-up of each round.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"example.org/bloomfilter"
	"github.com/willf/bloom"
)

const asked = 1 << 20

// A way to look up all keys; its name is a contender and the begin of an operation.
type way struct {
	name string
	run  func(keys []int64)
}

var sink int

func createMap(count int64) []way {
	set := make(map[int64]struct{}, count)
	for key := int64(1); key <= count; key++ {
		set[key] = struct{}{}
	}
	return []way{{"map\t", func(keys []int64) {
		for _, key := range keys {
			if _, found := set[key]; found {
				sink++
			}
		}
	}}}
}

func createWillf(count int64) []way {
	filter := bloom.NewWithEstimates(uint(count), 0.01)
	bytes := make([]byte, 8)
	for key := int64(1); key <= count; key++ {
		binary.LittleEndian.PutUint64(bytes, uint64(key))
		filter.Add(bytes)
	}
	return []way{{"willf/bloom\t", func(keys []int64) {
		for _, key := range keys {
			binary.LittleEndian.PutUint64(bytes, uint64(key))
			if filter.Test(bytes) {
				sink++
			}
		}
	}}}
}

func open(path string) []way {
	filter, err := bloomfilter.Open(path)
	check(err)
	found := make([]bool, asked)
	return []way{{path + "\t", func(keys []int64) {
		for _, key := range keys {
			_, err := filter.ContainsInt64(key)
			check(err)
		}
	}}, {path + "\tbatch ", func(keys []int64) {
		check(filter.ContainsManyInt64(keys, found))
	}}}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	count, _ := strconv.ParseInt(os.Args[1], 10, 64)
	rounds, _ := strconv.Atoi(os.Args[2])
	var ways []way
	for _, contender := range os.Args[3:] {
		switch contender {
		case "map":
			ways = append(ways, createMap(count)...)
		case "willf/bloom":
			ways = append(ways, createWillf(count)...)
		default:
			ways = append(ways, open(contender)...)
		}
	}
	for ; rounds > 0; rounds-- {
		for _, one := range ways {
			measure(one, "there", func() int64 { return 1 + rand.Int63n(count) })
		}
		for _, one := range ways {
			measure(one, "absent", rand.Int63)
		}
	}
}

// measure asks for others each time: what was just asked is in the processor's cache.
func measure(one way, operation string, key func() int64) {
	keys := make([]int64, asked)
	for i := range keys {
		keys[i] = key()
	}
	start := time.Now()
	one.run(keys)
	fmt.Printf("%s%s\t%.2f\n", one.name, operation, float64(time.Since(start).Nanoseconds())/asked)
}
