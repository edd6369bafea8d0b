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
)

// NumericKey is a key of type numeric: a decimal such as "-1.50" or "1e3",
// "NaN", "Infinity" or "-Infinity". Equal numbers make equal keys, whatever
// their spelling. The common spellings are used in place, without a copy.
func NumericKey(value string) (Key, error) {
	if special, ok := specialNumeric(value); ok {
		return Key{keyType: Numeric, long: special}, nil
	}
	d, ok := splitDecimal(value)
	if !ok {
		return Key{}, keyError(Numeric, "%.40q is not a number", value)
	}
	if d.exponent != 0 {
		if !d.shiftPoint() {
			return Key{}, keyError(Numeric, "%.40q is out of range", value)
		}
	}
	d.trim()
	if len(d.integer) > maxIntegerDigits || len(d.fraction) > maxFractionDigits {
		return Key{}, keyError(Numeric, "%.40q... is out of range", value)
	}
	return Key{keyType: Numeric, long: d.spell(value)}, nil
}

func specialNumeric(value string) (string, bool) {
	if len(value) > len("-infinity") {
		return "", false
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
	exponent int
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
		return d.withExponent(rest[1:])
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

func (d decimal) withExponent(text string) (decimal, bool) {
	exponent, err := strconv.Atoi(text)
	if err != nil || strings.Contains(text, "_") {
		return d, false
	}
	d.exponent = exponent
	return d, true
}

// shiftPoint takes the exponent into the digits, unless that makes more of them
// than any numeric has.
func (d *decimal) shiftPoint() bool {
	const most = maxIntegerDigits + maxFractionDigits

	switch {
	case d.exponent > most || d.exponent < -most:
		return false
	case d.exponent > 0:
		digits := d.fraction + zeros(d.exponent-len(d.fraction))
		d.integer += digits[:d.exponent]
		d.fraction = digits[d.exponent:]
	default:
		digits := zeros(-d.exponent-len(d.integer)) + d.integer
		d.fraction = digits[len(digits)+d.exponent:] + d.fraction
		d.integer = digits[:len(digits)+d.exponent]
	}
	return true
}

func zeros(count int) string {
	if count <= 0 {
		return ""
	}
	return strings.Repeat("0", count)
}

// trim leaves the digits that equal numbers share.
func (d *decimal) trim() {
	d.integer = strings.TrimLeft(d.integer, "0")
	d.fraction = strings.TrimRight(d.fraction, "0")
	if d.integer == "" {
		d.integer = "0"
	}
	if d.integer == "0" && d.fraction == "" {
		d.negative = false
	}
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
