package bloomfilter

import "strings"

// What PostgreSQL's numeric can hold, in decimal digits.
const (
	maxIntegerDigits  = 131072
	maxFractionDigits = 16383
)

// NumericKey is a key of type numeric as PostgreSQL prints it: a decimal such as "-1.50",
// without an exponent, or "NaN", "Infinity" or "-Infinity". Zeros at either end don't
// matter. Most texts are used in place, without a copy.
func NumericKey(value string) (Key, error) {
	switch value {
	case "NaN", "Infinity", "-Infinity":
		return Key{keyType: Numeric, long: value}, nil
	}
	digits := strings.TrimPrefix(value, "-")
	integer, fraction, hasPoint := strings.Cut(digits, ".")
	if !areDigits(integer) || hasPoint && !areDigits(fraction) {
		return Key{}, keyError(Numeric, "%.40q is not a plain decimal", value)
	}
	if len(integer) > maxIntegerDigits || len(fraction) > maxFractionDigits {
		return Key{}, keyError(Numeric, "%.40q is out of range", value)
	}
	sign := value[:len(value)-len(digits)]
	whole, part := strings.TrimLeft(integer, "0"), strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	end := len(sign) + len(integer)
	if part != "" {
		end += 1 + len(part)
	}
	switch {
	case whole == "0" && part == "":
		value = "0"
	case len(whole) == len(integer):
		value = value[:end]
	default:
		value = sign + whole + value[len(sign)+len(integer):end]
	}
	return Key{keyType: Numeric, long: value}, nil
}

// areDigits tells whether a text is one or more decimal digits.
func areDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
