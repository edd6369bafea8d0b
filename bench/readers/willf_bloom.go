// Debian's golang-github-willf-bloom-dev: willf_bloom KEYS ROUNDS prints contender,
// operation, ns per look-up.
package main

import (
	"encoding/binary"
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"github.com/willf/bloom"
)

const asked = 1 << 20

var sink int

func encode(key int64) []byte {
	bytes := make([]byte, 8)
	binary.LittleEndian.PutUint64(bytes, uint64(key))
	return bytes
}

func sample(from, count int64) []int64 {
	random := rand.New(rand.NewSource(1))
	keys := make([]int64, asked)
	for i := range keys {
		keys[i] = from + random.Int63n(count)
	}
	return keys
}

func measure(operation string, filter *bloom.BloomFilter, keys []int64) {
	bytes := make([]byte, 8)
	start := time.Now()
	for _, key := range keys {
		binary.LittleEndian.PutUint64(bytes, uint64(key))
		if filter.Test(bytes) {
			sink++
		}
	}
	fmt.Printf("willf/bloom\t%s\t%.2f\n", operation, float64(time.Since(start).Nanoseconds())/asked)
}

func main() {
	count, _ := strconv.ParseInt(os.Args[1], 10, 64)
	rounds, _ := strconv.Atoi(os.Args[2])
	filter := bloom.NewWithEstimates(uint(count), 0.01)
	for key := int64(0); key < count; key++ {
		filter.Add(encode(key))
	}
	there, absent := sample(0, count), sample(count, 1<<40)
	for ; rounds > 0; rounds-- {
		measure("there", filter, there)
		measure("absent", filter, absent)
	}
}
