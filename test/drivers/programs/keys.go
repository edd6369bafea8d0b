// Asks by lib/pq, in text and in binary; "keys.py" says what.
package main

import (
	"bufio"
	"database/sql"
	"fmt"
	"os"
	"strings"

	"github.com/lib/pq"
)

// What isn't bytes is read as a string, as a program would.
func read(db *sql.DB, kind, query string) (keys []any) {
	rows, err := db.Query(query)
	if err != nil {
		panic(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key any
		if err := rows.Scan(&key); err != nil {
			panic(err)
		}
		if text, ok := key.([]byte); ok && kind != "bytea" {
			key = string(text)
		}
		keys = append(keys, key)
	}
	return keys
}

func answer(db *sql.DB, query string, key any) string {
	var found bool
	err := db.QueryRow(query, key).Scan(&found)
	if refused, ok := err.(*pq.Error); ok {
		return string(refused.Code)
	}
	if err != nil {
		return "client"
	}
	return fmt.Sprint(found)
}

func main() {
	modes := map[string]string{"lib/pq": "", "lib/pq binary": "binary_parameters=yes"}
	dbs := map[string]*sql.DB{}
	keys := map[string][]any{}
	for mode, options := range modes {
		dbs[mode], _ = sql.Open("postgres", options)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		question := strings.Split(lines.Text(), "\t")
		for mode, db := range dbs {
			if question[1] == "read" {
				keys[mode] = read(db, question[0], question[2])
				continue
			}
			answers := []string{mode, question[0], question[1]}
			for _, key := range keys[mode] {
				answers = append(answers, answer(db, question[2], key))
			}
			fmt.Println(strings.Join(answers, "\t"))
		}
	}
}
