// Asks by pgx, by its own format and as text; "keys.py" says what.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
)

var ctx = context.Background()

// What Go has no type for is read as a string, as a program would.
var native = map[string]bool{"bigint": true, "bytea": true, "float8": true, "date": true, "timestamp": true, "timestamptz": true}

func read(conn *pgx.Conn, kind, query string) (keys []any) {
	if !native[kind] {
		query = "select k::text from (" + query + ") sent"
	}
	rows, err := conn.Query(ctx, query)
	if err != nil {
		panic(err)
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			panic(err)
		}
		keys = append(keys, values[0])
	}
	return keys
}

func answer(conn *pgx.Conn, query string, key any) string {
	var found bool
	err := conn.QueryRow(ctx, query, key).Scan(&found)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	if err != nil {
		return "client"
	}
	return fmt.Sprint(found)
}

func main() {
	conns := map[string]*pgx.Conn{}
	for mode, simple := range map[string]bool{"pgx": false, "pgx simple": true} {
		config, err := pgx.ParseConfig("")
		if err != nil {
			panic(err)
		}
		config.PreferSimpleProtocol = simple
		if conns[mode], err = pgx.ConnectConfig(ctx, config); err != nil {
			panic(err)
		}
	}
	keys := map[string][]any{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		question := strings.Split(lines.Text(), "\t")
		for mode, conn := range conns {
			if question[1] == "read" {
				keys[mode] = read(conn, question[0], question[2])
				continue
			}
			answers := []string{mode, question[0], question[1]}
			for _, key := range keys[mode] {
				answers = append(answers, answer(conn, question[2], key))
			}
			fmt.Println(strings.Join(answers, "\t"))
		}
	}
}
