package bloomfilter

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Info describes a filter, or the open parts of a set taken as one. How many keys it has
// and what rate it keeps now is told by SQL's bloom_stats and by "bloomfilter info".
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
	Part, Parts   int     // which part, of how many
	FormatVersion int     // 1, of an exact filter 2
	Others        uint64  // of an exact filter: keys that it knows and that are no members, as it was planned
	Checksum      string  // 16 hexadecimal digits; filters that have the same hold the same bytes
	Filters       []Info  // the open parts one by one; nil for one of them
}

// Info describes the filter, from its headers alone; of a followed file the bits are
// counted.
func (f *Filter) Info() Info {
	var info Info
	var checksum uint64
	for i, p := range f.parts {
		h := f.headerOf(p)
		one := h.info()
		if i == 0 {
			info, checksum = one, h.checksum
		} else {
			info.include(one)
			// That of all bytes: each part's is hashed with that of those before it.
			both := binary.LittleEndian.AppendUint64(nil, checksum)
			checksum = hashOf(binary.LittleEndian.AppendUint64(both, h.checksum), 0)
		}
		info.Filters = append(info.Filters, one)
	}
	info.KeyType = f.keyType
	info.Fill = float64(info.BitsSet) / float64(info.Bits)
	info.Checksum = fmt.Sprintf("%016x", checksum)
	return info
}

// include adds a part.
func (i *Info) include(part Info) {
	i.N = addCapacity(i.N, part.N)
	i.P = math.Max(i.P, part.P)
	i.Bits += part.Bits
	i.Bytes += part.Bytes
	i.Blocks += part.Blocks
	i.BitsSet += part.BitsSet
	i.Others = addCapacity(i.Others, part.Others)
}

func (h *header) info() Info {
	bits := h.blocksBytes() * 8
	version := 1
	if h.upper != nil {
		version = 2
	}
	return Info{
		N:             h.capacity,
		P:             h.rate,
		Bits:          bits,
		Bytes:         h.bytes(),
		Hashes:        int(h.probes),
		BlockBits:     1 << h.log2Block,
		Blocks:        uint64(h.blocks),
		Seed:          int64(h.seed),
		KeyType:       h.keyType,
		BitsSet:       h.bitsSet,
		Fill:          float64(h.bitsSet) / float64(bits),
		Part:          int(h.part),
		Parts:         int(h.parts),
		FormatVersion: version,
		Others:        h.others,
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
