package bloomfilter

import "math"

// What a filter's fill says about the keys in it: sections 9 and 11 of doc/FORMAT.md.

const (
	// negligible is how small a number of keys' share may be to be left out.
	negligible = 1e-18

	// sure is by how many standard deviations the fill must exceed what the
	// capacity explains.
	sure = 5
)

// expectation is what is to be expected of a filter with so many keys.
type expectation struct {
	rate     float64 // of false positives
	bits     float64 // set in one block
	variance float64 // of these
}

func (h *header) blockBits() float64 { return float64(uint64(1) << h.log2Block) }

// cardinality estimates the number of different keys. A full filter is taken for one
// that misses half a bit.
func (h *header) cardinality() float64 {
	bits := float64(h.blocksBytes() * 8)
	set := math.Min(float64(h.bitsSet), bits-0.5)
	hit := -math.Expm1(float64(h.probes) * math.Log1p(-1/h.blockBits()))
	return math.Log1p(-set/bits) / math.Log1p(-hit/float64(h.blocks))
}

func (h *header) overCapacity() bool {
	if h.cardinality() <= float64(h.capacity) {
		return false
	}
	blocks := float64(h.blocks)
	expected := h.expect(float64(h.capacity))
	return float64(h.bitsSet) > blocks*expected.bits+sure*math.Sqrt(blocks*expected.variance)
}

// expect sums over the number of keys in a block, which is binomial, from the
// likeliest number outwards both ways.
func (h *header) expect(n float64) expectation {
	blocks, bits, k := float64(h.blocks), h.blockBits(), float64(h.probes)
	mean := n / blocks
	// The weight of j + 1 keys is that of j times this. One block has all keys.
	next := func(j float64) float64 {
		if h.blocks == 1 {
			return 0
		}
		return (n - j) / (blocks - 1) / (j + 1)
	}
	// Of one key: the logarithms of the shares of empty bits and of empty pairs.
	step1, step2 := k*math.Log1p(-1/bits), k*math.Log1p(-2/bits)
	middle := math.Floor(mean)
	if h.blocks == 1 {
		middle = math.Ceil(n)
	}
	var sums fillSums
	for j, weight := middle, 1.0; weight > negligible; j++ {
		sums.add(weight, math.Exp(j*step1), math.Exp(j*step2), bits, k)
		weight *= next(j)
	}
	for j, weight := middle, 1.0; j >= 1 && h.blocks > 1; j-- {
		weight /= next(j - 1)
		if weight <= negligible {
			break
		}
		sums.add(weight, math.Exp((j-1)*step1), math.Exp((j-1)*step2), bits, k)
	}
	result := sums.mean(bits)
	collision := math.Min(n/(1<<64), 1)
	result.rate += (1 - result.rate) * collision
	return result
}

// fillSums are weighted sums over blocks with different numbers of keys.
type fillSums struct {
	total, rate, share, squares float64
}

// add counts blocks of which so large a share of bits, and of pairs of bits, is empty.
func (s *fillSums) add(weight, empty1, empty2, bits, k float64) {
	mean := 1 - empty1
	variance := math.Max(empty1/bits+(1-1/bits)*empty2-empty1*empty1, 0)
	s.total += weight
	s.rate += weight * normalMoment(mean, variance, k)
	s.share += weight * mean
	s.squares += weight * (variance + mean*mean)
}

func (s *fillSums) mean(bits float64) expectation {
	share := s.share / s.total
	return expectation{
		rate:     s.rate / s.total,
		bits:     share * bits,
		variance: (s.squares/s.total - share*share) * bits * bits,
	}
}

// normalMoment is the expected k-th power of a normal share of set bits.
func normalMoment(mean, variance, k float64) float64 {
	if mean <= 0 {
		return 0
	}
	ratio := variance / (mean * mean)
	sum, term := 1.0, 1.0
	for i := 0.0; i+2 <= k; i += 2 {
		term *= ratio * (k - i) * (k - i - 1) / (i + 2)
		sum += term
	}
	return sum * math.Pow(mean, k)
}
