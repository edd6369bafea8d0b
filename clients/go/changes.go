package bloomfilter

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

// Keys that were changed by day since their list was published: a table behind the parts of
// a followed file. doc/FEED.md, section 7, describes it.

const (
	slotBytes = 32
	slotTagAt = 8
	slotState = 24
	tagBytes  = 16

	log2SlotsAt = 20
	tableCount  = 608
	tableTo     = 624

	minLog2Slots = 10
	maxLog2Slots = 22
)

// tableBytes is how long the table is that the page tells of, and whether there may be one of that size.
func tableBytes(page []byte) (length int, ok bool) {
	log2 := binary.LittleEndian.Uint32(page[log2SlotsAt:])
	if log2 == 0 {
		return 0, true
	}
	return (slotBytes + 1) << (log2 & 31), page[4] == trackedPage && log2 >= minLog2Slots && log2 <= maxLog2Slots
}

// changes is what a tracked list's file has; table, the slots and behind them their bits, is empty where there is none.
type changes struct {
	page  []byte
	table []byte
	shift uint // from a hash to its first slot
}

// changesOf is nil where the list isn't tracked; the table ends the bytes.
func changesOf(b []byte) *changes {
	if b[4] != trackedPage {
		return nil
	}
	length, _ := tableBytes(b)
	return &changes{b[:pageBytes], b[len(b)-length:], 64 - uint(binary.LittleEndian.Uint32(b[log2SlotsAt:]))}
}

// count is how many keys were changed: 0 of most filters, and then the table isn't looked at.
func (c *changes) count() uint64 {
	return loadWord(c.page, tableCount)
}

// loadWord reads a word that the follower may change meanwhile, in one load.
func loadWord(b []byte, at int) uint64 {
	var native [8]byte
	*(*uint64)(unsafe.Pointer(&native)) = atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[at])))
	return binary.LittleEndian.Uint64(native[:])
}

// mayHave is whether the bit of a hash is set in a table that is there: else no entry has this hash.
func (c *changes) mayHave(hash uint64) bool {
	bits := c.table[len(c.table)/(slotBytes+1)*slotBytes:]
	bit := hash >> (c.shift - 3)
	return loadWord(bits, int(bit/64*8))>>(bit%64)&1 != 0
}

// ask returns the answer for a key that was changed, and whether it was. A slot's state is loaded
// before its key is compared, as the follower stores it last. The key is made only for its tag.
func (c *changes) ask(hash uint64, key func() Key) (found, changed bool, err error) {
	slots := len(c.table) / (slotBytes + 1)
	if slots > 0 && !c.mayHave(hash) {
		return false, false, nil
	}
	var tag []byte
	for i := 0; i < slots; i++ {
		at := (int(hash>>c.shift) + i) & (slots - 1) * slotBytes
		state := loadWord(c.table, at+slotState)
		if state == 0 {
			return false, false, nil
		}
		if loadWord(c.table, at) != hash {
			continue
		}
		if tag == nil {
			digest := sha256.Sum256(key().AppendTo(nil))
			tag = digest[:tagBytes]
		}
		if bytes.Equal(c.table[at+slotTagAt:at+slotState], tag) {
			return state&1 != 0, true, nil
		}
	}
	return false, false, &ChangesError{}
}
