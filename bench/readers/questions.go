// questions FOLLOWED PLAIN PAIRS: a line for each pair, ns per look-up of random integers in each file.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"strconv"
	"time"

	"example.org/bloomfilter"
)

const asked = 1 << 20

func measure(file *bloomfilter.Filter, keys []int64) float64 {
	start := time.Now()
	for _, key := range keys {
		if _, err := file.ContainsInt64(key); err != nil {
			panic(err)
		}
	}
	return float64(time.Since(start).Nanoseconds()) / asked
}

func open(path string) *bloomfilter.Filter {
	file, err := bloomfilter.Open(path)
	if err != nil {
		panic(err)
	}
	return file
}

func main() {
	followed, plain := open(os.Args[1]), open(os.Args[2])
	pairs, _ := strconv.Atoi(os.Args[3])
	keys := make([]int64, asked)
	for i := range keys {
		keys[i] = rand.Int63()
	}
	for ; pairs > 0; pairs-- {
		fmt.Printf("%.3f %.3f\n", measure(followed, keys), measure(plain, keys))
	}
}
