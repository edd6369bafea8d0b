package bloomfilter

import "math"

// Info describes a filter.
type Info struct {
	KeyType       KeyType
	Seed          uint64 // SQL shows it as the signed int64(Seed)
	Parts         int    // of the whole set; 1 for a whole filter
	Capacity      uint64 // keys it was sized for, all open parts together
	Bytes         uint64 // headers included
	BitsSet       uint64
	EstimatedKeys float64 // infinite if all bits are set
	Open          []PartInfo
}

// PartInfo describes one file.
type PartInfo struct {
	Part      int
	Probes    int // bits per key
	BlockBits int
	Blocks    uint32
	Capacity  uint64
	Rate      float64 // false-positive rate at Capacity keys
	Bytes     uint64
	BitsSet   uint64
	Checksum  uint64
	// EstimatedKeys comes from the bits set; nothing counts insertions.
	EstimatedKeys float64
}

// Info describes the filter. It takes no time worth mentioning.
func (f *Filter) Info() Info {
	info := Info{KeyType: f.keyType, Seed: f.seed, Parts: int(f.total)}
	for _, p := range f.parts {
		one := p.header.info()
		info.Capacity = addCapacity(info.Capacity, one.Capacity)
		info.Bytes += one.Bytes
		info.BitsSet += one.BitsSet
		info.EstimatedKeys += one.EstimatedKeys
		info.Open = append(info.Open, one)
	}
	return info
}

func (h *header) info() PartInfo {
	return PartInfo{
		Part:          int(h.part),
		Probes:        int(h.probes),
		BlockBits:     1 << h.log2Block,
		Blocks:        h.blocks,
		Capacity:      h.capacity,
		Rate:          h.rate,
		Bytes:         headerBytes + h.blocksBytes(),
		BitsSet:       h.bitsSet,
		Checksum:      h.checksum,
		EstimatedKeys: h.estimate(),
	}
}

// addCapacity stops at the largest number: each of two addends may be near it.
func addCapacity(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// estimate is -ln(1 - fill) * blocks / (1 - (1 - 1/B)^k).
func (h *header) estimate() float64 {
	fill := float64(h.bitsSet) / float64(h.blocksBytes()*8)
	perBlock := -math.Expm1(float64(h.probes) * math.Log1p(-1/float64(uint64(1)<<h.log2Block)))
	return -math.Log1p(-fill) * float64(h.blocks) / perBlock
}
