package bloomfilter

import (
	"encoding/binary"
	"math"
)

const (
	headerBytes = 64

	// maxBytes is the size of the largest filter: 512 MiB less 4 KiB.
	maxBytes = 512<<20 - 4096

	minLog2Block = 9
	maxLog2Block = 16
	maxProbes    = 32

	headerChecksumAt = 52
	checksumAt       = 56
)

type header struct {
	probes    uint8
	log2Block uint8
	keyType   KeyType
	blocks    uint32
	part      uint16
	parts     uint16
	seed      uint64
	capacity  uint64
	rate      float64
	bitsSet   uint64
	checksum  uint64
	at        int   // in a followed file: where it begins
	salt      uint8 // of an exact filter, as the next two
	others    uint64
	upper     []*header // levels 2 and 3
}

// front is how many bytes stand before the blocks.
func (h *header) front() uint64 {
	if h.upper != nil {
		return exactBytes
	}
	return headerBytes
}

// bytes is the length of the whole filter.
func (h *header) bytes() uint64 {
	length := h.front() + h.blocksBytes()
	for _, level := range h.upper {
		length += level.blocksBytes()
	}
	return length
}

func (h *header) blocksBytes() uint64 {
	return uint64(h.blocks) << (h.log2Block - 3)
}

// asStated is the length of a filter whose header alone says it.
const asStated = math.MaxUint64

// readHeader checks all rules that need only the header and the length of the
// whole filter. b has at least the first 128 bytes, or all if there are fewer.
func readHeader(b []byte, length uint64) (*header, error) {
	if err := checkIdentity(b, length); err != nil {
		return nil, err
	}
	h := &header{
		probes:    b[5],
		log2Block: b[6],
		keyType:   KeyType(b[7]) | KeyType(binary.LittleEndian.Uint32(b[48:]))>>8<<8,
		blocks:    binary.LittleEndian.Uint32(b[8:]),
		part:      binary.LittleEndian.Uint16(b[12:]),
		parts:     binary.LittleEndian.Uint16(b[14:]),
		seed:      binary.LittleEndian.Uint64(b[16:]),
		capacity:  binary.LittleEndian.Uint64(b[24:]),
		rate:      math.Float64frombits(binary.LittleEndian.Uint64(b[32:])),
		bitsSet:   binary.LittleEndian.Uint64(b[40:]),
		checksum:  binary.LittleEndian.Uint64(b[checksumAt:]),
	}
	if err := h.checkGeometry(); err != nil {
		return nil, err
	}
	if b[4] == 2 {
		if err := h.readDirectory(b); err != nil {
			return nil, err
		}
	}
	if length != h.bytes() && length != asStated || h.bytes() > maxBytes {
		return nil, invalid("size", "length does not match the number of blocks")
	}
	if err := h.checkParameters(); err != nil {
		return nil, err
	}
	return h, nil
}

// checkIdentity checks what kind of bytes these are, before any field of them is
// believed.
func checkIdentity(b []byte, length uint64) error {
	switch {
	case length < headerBytes || len(b) < headerBytes:
		return invalid("short", "shorter than the 64-byte header")
	case string(b[:4]) != "BLMF":
		return invalid("magic", "does not start with BLMF")
	case b[4] != 1 && b[4] != 2:
		return invalid("version", "unsupported format version %d", b[4])
	case binary.LittleEndian.Uint32(b[headerChecksumAt:]) != headerChecksum(b):
		return invalid("header_checksum", "header checksum does not match")
	case b[48] != 1:
		return invalid("hash", "unsupported hash function %d", b[48])
	}
	return nil
}

// headerChecksum is the low half of the hash of the bytes before it.
func headerChecksum(b []byte) uint32 {
	return uint32(hashOf(b[:headerChecksumAt], 0))
}

// isWhole tells whether a row's type has columns, and any other has none.
func (t KeyType) isWhole() bool {
	if t&0xff != row {
		return t == None || t.isColumn()
	}
	return t == RowType(t.Columns()...)
}

func (h *header) checkGeometry() error {
	switch {
	case h.probes < 1 || h.probes > maxProbes:
		return invalid("probes", "number of probes is not between 1 and 32")
	case h.log2Block < minLog2Block || h.log2Block > maxLog2Block:
		return invalid("block_bits", "block size is not between 2^9 and 2^16 bits")
	case h.keyType&0xff != None && h.keyType&0xff != row && !(h.keyType & 0xff).isColumn():
		return invalid("key_type", "unknown key type")
	case !h.keyType.isWhole():
		return invalid("columns", "columns do not match the key type")
	case h.blocks < 1:
		return invalid("blocks", "number of blocks is zero")
	}
	return nil
}

func (h *header) checkParameters() error {
	switch {
	case h.part >= h.parts:
		return invalid("part", "part is not below the number of parts")
	case h.capacity < 1 || h.capacity > math.MaxInt64:
		return invalid("capacity", "capacity is not between 1 and 2^63 - 1")
	case !(h.rate > 0 && h.rate < 1):
		return invalid("rate", "false-positive rate is not between 0 and 1")
	}
	return nil
}
