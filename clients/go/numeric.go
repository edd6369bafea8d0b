package bloomfilter

import (
	"strconv"
	"strings"
)

// What PostgreSQL's numeric can hold, in decimal digits. Without these limits a
// short text such as 1e999999999 would be expanded to a gigabyte.
const (
	maxIntegerDigits  = 131072
	maxFractionDigits = 16383
	maxExponent       = 1<<30 - 2
)

// NumericKey is a key of type numeric: a decimal such as "-1.50" or "1e3",
// "NaN", "Infinity" or "-Infinity". Equal numbers make equal keys, whatever
// their spelling. The common spellings are used in place, without a copy.
func NumericKey(value string) (Key, error) {
	if special, ok := specialNumber(value); ok {
		return Key{keyType: Numeric, long: special}, nil
	}
	d, ok := splitDecimal(value)
	if !ok {
		return Key{}, keyError(Numeric, "%.40q is not a number", value)
	}
	if !d.applyExponent() {
		return Key{}, keyError(Numeric, "%.40q is out of range", value)
	}
	return Key{keyType: Numeric, long: d.spell(value)}, nil
}

// specialNumber knows the names that numeric and float share, in ASCII of either
// case: a dotted capital I is none of their letters, though its lower case is.
func specialNumber(value string) (string, bool) {
	if len(value) > len("-infinity") {
		return "", false
	}
	for i := 0; i < len(value); i++ {
		if value[i] >= 0x80 {
			return "", false
		}
	}
	switch strings.ToLower(value) {
	case "nan":
		return "NaN", true
	case "inf", "+inf", "infinity", "+infinity":
		return "Infinity", true
	case "-inf", "-infinity":
		return "-Infinity", true
	}
	return "", false
}

// decimal is a number as it is written: a sign, digits, a point, digits, an
// exponent.
type decimal struct {
	negative bool
	integer  string
	fraction string
	exponent string // with its sign; empty: none
}

func splitDecimal(value string) (d decimal, ok bool) {
	rest := value
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		d.negative = rest[0] == '-'
		rest = rest[1:]
	}
	d.integer, rest = splitDigits(rest)
	if rest != "" && rest[0] == '.' {
		d.fraction, rest = splitDigits(rest[1:])
	}
	if d.integer == "" && d.fraction == "" {
		return d, false
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		d.exponent = rest[1:]
		return d, isExponent(d.exponent)
	}
	return d, rest == ""
}

func splitDigits(text string) (digits, rest string) {
	i := 0
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	return text[:i], text[i:]
}

func isExponent(text string) bool {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	digits, rest := splitDigits(text)
	return digits != "" && rest == ""
}

// isZero tells whether no digit is another than 0.
func (d *decimal) isZero() bool {
	return strings.Trim(d.integer, "0") == "" && strings.Trim(d.fraction, "0") == ""
}

// applyExponent moves the point and leaves the digits that equal numbers share. It
// returns false for what no numeric can hold, before it makes any digits.
func (d *decimal) applyExponent() bool {
	exponent := 0
	if d.exponent != "" {
		var err error
		exponent, err = strconv.Atoi(d.exponent)
		if err != nil || exponent > maxExponent || exponent < -maxExponent {
			return false
		}
	}
	if len(d.fraction)-exponent > maxFractionDigits {
		return false
	}
	if d.isZero() {
		*d = decimal{integer: "0"}
		return true
	}
	d.integer = strings.TrimLeft(d.integer, "0")
	leading := 0
	if d.integer == "" {
		leading = len(d.fraction) - len(strings.TrimLeft(d.fraction, "0"))
	}
	if len(d.integer)-leading+exponent > maxIntegerDigits {
		return false
	}
	d.movePoint(exponent)
	d.integer = strings.TrimLeft(d.integer, "0")
	d.fraction = strings.TrimRight(d.fraction, "0")
	if d.integer == "" {
		d.integer = "0"
	}
	return true
}

func (d *decimal) movePoint(exponent int) {
	switch {
	case exponent > 0:
		digits := d.fraction + zeros(exponent-len(d.fraction))
		d.integer += digits[:exponent]
		d.fraction = digits[exponent:]
	case exponent < 0:
		digits := zeros(-exponent-len(d.integer)) + d.integer
		d.fraction = digits[len(digits)+exponent:] + d.fraction
		d.integer = digits[:len(digits)+exponent]
	}
}

func zeros(count int) string {
	if count <= 0 {
		return ""
	}
	return strings.Repeat("0", count)
}

// spell writes the canonical form. Most texts begin with it already; only the
// others cost memory.
func (d *decimal) spell(text string) string {
	length := len(d.integer)
	if d.negative {
		length++
	}
	if d.fraction != "" {
		length += 1 + len(d.fraction)
	}
	if length <= len(text) && d.isSpelled(text[:length]) {
		return text[:length]
	}
	spelled := d.integer
	if d.negative {
		spelled = "-" + spelled
	}
	if d.fraction != "" {
		spelled += "." + d.fraction
	}
	return spelled
}

// isSpelled says whether a text of the right length is the canonical form.
func (d *decimal) isSpelled(text string) bool {
	if d.negative {
		if text[0] != '-' {
			return false
		}
		text = text[1:]
	}
	if text[:len(d.integer)] != d.integer {
		return false
	}
	if d.fraction == "" {
		return true
	}
	return text[len(d.integer)] == '.' && text[len(d.integer)+1:] == d.fraction
}
