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
	if hasPoint {
		value = strings.TrimRight(strings.TrimRight(value, "0"), ".")
		digits = value[len(sign):]
	}
	rest := strings.TrimLeft(digits, "0")
	if rest == "" || rest[0] == '.' {
		rest = digits[len(digits)-len(rest)-1:]
	}
	switch {
	case rest == "0":
		value = "0"
	case len(rest) < len(digits):
		value = sign + rest
	}
	return Key{keyType: Numeric, long: value}, nil
}

// areDigits tells whether a text is one or more decimal digits.
func areDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}
