// Makes the golden files, or reads bytes that were made elsewhere. See ../README.md.
//
//	go run . make DIR          writes full/, zero/, pointers/, shapes.json and merging.json into DIR
//	go run . read GOLDEN OTHER decodes every .pb below OTHER and compares it with the file of that name in GOLDEN
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func main() {
	var err error
	switch {
	case len(os.Args) == 3 && os.Args[1] == "make":
		err = makeAll(os.Args[2])
	case len(os.Args) == 4 && os.Args[1] == "read":
		err = readAll(os.Args[2], os.Args[3])
	default:
		err = fmt.Errorf("usage: go run . make DIR | go run . read GOLDEN OTHER")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func makeAll(dir string) error {
	for _, sample := range []sample{full, zero, pointers} {
		for _, entry := range kinds() {
			if err := makeOne(dir, sample, entry); err != nil {
				return fmt.Errorf("%s %s: %w", sample.name, entry.kind, err)
			}
		}
	}
	if err := makeWatchFrame(dir); err != nil {
		return err
	}
	if err := writeJSON(filepath.Join(dir, "shapes.json"), shapes(kinds())); err != nil {
		return err
	}
	marked, err := merging(kinds())
	if err != nil {
		return err
	}
	return writeJSON(filepath.Join(dir, "merging.json"), marked)
}

func makeOne(dir string, sample sample, entry entry) error {
	object := sample.of(entry)
	var encoded bytes.Buffer
	if err := serializer().Encode(object, &encoded); err != nil {
		return err
	}
	name := filepath.Join(dir, sample.name, fileName(entry.gvk()))
	if err := writeJSON(name+".json", object); err != nil {
		return err
	}
	return os.WriteFile(name+".pb", encoded.Bytes(), 0o644)
}

// rbac.authorization.k8s.io.v1.Role, core.v1.Pod
func fileName(gvk schema.GroupVersionKind) string {
	group := gvk.Group
	if group == "" {
		group = "core"
	}
	return strings.Join([]string{group, gvk.Version, gvk.Kind}, ".")
}

func writeJSON(name string, value any) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
