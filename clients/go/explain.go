package bloomfilter

import (
	"encoding/hex"
	"fmt"
	"math/bits"
	"runtime"
	"runtime/debug"
	"strings"
)

// shownBytes is how many bytes of a key are shown.
const shownBytes = 64

// Explain returns what a look-up of the key computes and sees, in lines that SQL's
// bloom_explain, the command line and the readers in other languages write alike. Where
// two programs answer differently, the first line that differs says why.
func (f *Filter) Explain(key Key) (text string, err error) {
	if err := f.checkKey(&key); err != nil {
		return "", err
	}
	if f.mapped != nil {
		defer catchFault(debug.SetPanicOnFault(true), &err)
		defer runtime.KeepAlive(f)
	}
	hash := key.hash(f.seed)
	own, _ := f.partFor(hash)
	p := own
	if p == nil {
		p = f.parts[0]
	}
	block, _ := bits.Mul64(hash, p.count)
	bytes := key.AppendTo(nil)
	var lines strings.Builder
	add := func(name, format string, values ...any) {
		fmt.Fprintf(&lines, "%-10s"+format+"\n", append([]any{name}, values...)...)
	}
	add("filter", "%016x", p.header.checksum)
	add("kind", "%s", key.keyType)
	add("length", "%d", len(bytes))
	add("bytes", "%s", shown(bytes))
	add("seed", "%016x", f.seed)
	add("hash", "%016x", hash)
	add("part", "%d of %d", partOf(hash, f.total), f.total)
	add("block", "%d of %d", block, p.count)
	answer := "other part"
	if own != nil {
		add("probes", "%s", own.bits(hash))
		if own.upper != nil && own.levelContains(hash) {
			for i, p := range own.upper.parts {
				key := own.upper.hash(i, hash)
				add("level", "%d", i+2)
				add("probes", "%s", p.bits(key))
				if !p.levelContains(key) {
					break
				}
			}
		}
		answer = fmt.Sprint(own.contains(hash))
	}
	add("answer", "%s", answer)
	return strings.TrimSuffix(lines.String(), "\n"), nil
}

func shown(bytes []byte) string {
	switch {
	case len(bytes) == 0:
		return "-"
	case len(bytes) > shownBytes:
		return hex.EncodeToString(bytes[:shownBytes]) + "..."
	}
	return hex.EncodeToString(bytes)
}

// bits are the probes of a hash, each with the bit that is there.
func (p *part) bits(hash uint64) string {
	block := p.block(hash)
	probes := make([]string, p.probes)
	for i := range probes {
		hash *= probeMultiplier
		bit := hash >> p.bitShift
		probes[i] = fmt.Sprintf("%d=%d", bit, block[bit>>3]>>(bit&7)&1)
	}
	return strings.Join(probes, " ")
}
