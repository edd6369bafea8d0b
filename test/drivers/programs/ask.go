// Asks by pgx; "lines.py" puts the document's lines in, and the types of the table.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

var ctx = context.Background()

func lookup(conn *pgx.Conn) (any, error) {
	var found bool
	// LOOKUP
	return found, err
}

func each(conn *pgx.Conn) (any, error) {
	var found []bool
	// EACH
	return found, err
}

func row(conn *pgx.Conn) (any, error) {
	var found bool
	// ROW
	return found, err
}

func answer(found any, err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		return "not sent"
	}
	return strings.ReplaceAll(fmt.Sprint(found), " ", ",")
}

// What the table says that the driver can send without a type, and what it can't.
const uuid = "00000000-0000-0000-0000-0000000000"

var day = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

var types = []struct {
	kind       string
	key, other any
	both       any
}{
	{"integer", int64(42), int64(43), []int64{42, 43}},
	{"integer", "42", "43", []string{"42", "43"}},
	{"text", "a", "b", []string{"a", "b"}},
	{"uuid", uuid + "42", uuid + "43", []string{uuid + "42", uuid + "43"}},
	{"numeric", "1.5", "2.5", []string{"1.5", "2.5"}},
	{"bytea", []byte("abc"), []byte("abd"), [][]byte{[]byte("abc"), []byte("abd")}},
	{"inet", "10.0.0.1", "10.0.0.2", []string{"10.0.0.1", "10.0.0.2"}},
	{"float", 1.5, 2.5, []float64{1.5, 2.5}},
	{"date", day, day.AddDate(0, 0, 1), []time.Time{day, day.AddDate(0, 0, 1)}},
}

func askTypes(conn *pgx.Conn) {
	ask := func(call, kind string, key any, found any) error {
		return conn.QueryRow(ctx, "select "+call+" from held where kind = '"+kind+"'", key).Scan(found)
	}
	for _, t := range types {
		var key, other bool
		var both []bool
		keyError := ask("bloom_contains(filter, $1)", t.kind, t.key, &key)
		otherError := ask("bloom_contains(filter, $1)", t.kind, t.other, &other)
		bothError := ask("bloom_contains_each(filter, $1)", t.kind, t.both, &both)
		fmt.Printf("%s %T: %s %s %s\n", t.kind, t.key,
			answer(key, keyError), answer(other, otherError), answer(both, bothError))
	}
}

func main() {
	conn, err := pgx.Connect(ctx, "")
	if err != nil {
		panic(err)
	}
	if len(os.Args) > 1 {
		askTypes(conn)
		return
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(answer(lookup(conn)), answer(each(conn)), answer(row(conn)))
	}
}
