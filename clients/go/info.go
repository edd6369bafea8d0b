package bloomfilter

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Info describes a filter, or the open parts of a set taken as one: the columns of
// SQL's bloom_stats.
type Info struct {
	N             uint64  // keys it was sized for, of all open parts
	P             float64 // the rate it was sized for; the highest of the parts
	Bits          uint64
	Bytes         uint64 // of all files, headers included
	Hashes        int    // bits of a key; the first part's, as is BlockBits
	BlockBits     int
	Blocks        uint64
	Seed          int64
	KeyType       KeyType
	BitsSet       uint64
	Fill          float64 // the share of bits that are set; close to 1/2 when N keys are in
	Cardinality   float64 // different keys in it, estimated from the bits set
	FPR           float64 // the rate to be expected with the keys in it now
	OverCapacity  bool    // it surely holds more keys than it was sized for
	Part, Parts   int     // which part, of how many
	FormatVersion int     // 1
	Checksum      string  // 16 hexadecimal digits; filters that have the same hold the same bytes
	Filters       []Info  // the open parts one by one; nil for one of them
}

// Info describes the filter, from its headers alone; of a working copy, the bits are
// counted.
func (f *Filter) Info() Info {
	headers := f.headers()
	info := headers[0].info()
	for _, h := range headers[1:] {
		info.include(h.info())
	}
	info.KeyType = f.keyType
	info.Fill = float64(info.BitsSet) / float64(info.Bits)
	// An absent key goes to each part as likely.
	info.FPR /= float64(len(f.parts))
	for _, h := range headers {
		info.Filters = append(info.Filters, h.info())
	}
	info.Checksum = checksumOf(headers)
	return info
}

// checksum is that of the bytes of all parts: each part's is hashed with that of
// those before it.
func (f *Filter) checksum() string { return checksumOf(f.headers()) }

func checksumOf(headers []*header) string {
	whole := headers[0].checksum
	var both [16]byte
	for _, h := range headers[1:] {
		binary.LittleEndian.PutUint64(both[:8], whole)
		binary.LittleEndian.PutUint64(both[8:], h.checksum)
		whole = hashOf(both[:], 0)
	}
	return fmt.Sprintf("%016x", whole)
}

// include adds a part; FPR is then a sum.
func (i *Info) include(part Info) {
	i.N = addCapacity(i.N, part.N)
	i.P = math.Max(i.P, part.P)
	i.Bits += part.Bits
	i.Bytes += part.Bytes
	i.Blocks += part.Blocks
	i.BitsSet += part.BitsSet
	i.Cardinality += part.Cardinality
	i.FPR += part.FPR
	i.OverCapacity = i.OverCapacity || part.OverCapacity
}

func (h *header) info() Info {
	bits := h.blocksBytes() * 8
	cardinality := h.cardinality()
	return Info{
		N:             h.capacity,
		P:             h.rate,
		Bits:          bits,
		Bytes:         headerBytes + h.blocksBytes(),
		Hashes:        int(h.probes),
		BlockBits:     1 << h.log2Block,
		Blocks:        uint64(h.blocks),
		Seed:          int64(h.seed),
		KeyType:       h.keyType,
		BitsSet:       h.bitsSet,
		Fill:          float64(h.bitsSet) / float64(bits),
		Cardinality:   cardinality,
		FPR:           h.expect(cardinality).rate,
		OverCapacity:  h.overCapacity(),
		Part:          int(h.part),
		Parts:         int(h.parts),
		FormatVersion: 1,
		Checksum:      fmt.Sprintf("%016x", h.checksum),
	}
}

// addCapacity stops at the largest number: each of two addends may be near it.
func addCapacity(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// String is for logs: what the filter holds, and how well.
func (f *Filter) String() string {
	info := f.Info()
	return fmt.Sprintf("bloomfilter of about %.0f %s keys, sized for %d at %g, %d of %d parts, rate now %.3g",
		info.Cardinality, info.KeyType, info.N, info.P, len(f.parts), info.Parts, info.FPR)
}
