package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

func readAll(golden, other string) error {
	read, different := 0, 0
	err := filepath.WalkDir(other, func(path string, file os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".pb") {
			return err
		}
		name, err := filepath.Rel(other, path)
		if err != nil {
			return err
		}
		read++
		if err := compare(filepath.Join(golden, name), path); err != nil {
			different++
			fmt.Printf("%s: %v\n", name, err)
		}
		return nil
	})
	fmt.Printf("%d files read, %d different\n", read, different)
	if err == nil && (different > 0 || read == 0) {
		err = fmt.Errorf("the bytes do not say the same")
	}
	return err
}

func compare(golden, other string) error {
	expected, err := decodedJSON(golden)
	if err != nil {
		return err
	}
	actual, err := decodedJSON(other)
	if err != nil {
		return err
	}
	if !bytes.Equal(expected, actual) {
		return fmt.Errorf("expected %s\ngot %s", expected, actual)
	}
	return nil
}

func decodedJSON(name string) ([]byte, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	decode := decodeObject
	if strings.Contains(filepath.Base(name), watchFrame) {
		decode = decodeWatchFrame
	}
	object, err := decode(data)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	return json.Marshal(withoutNulls(value))
}

// A null says the same as nothing; Go says it for a time that is not set, be it there or not.
func withoutNulls(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if value[key] = withoutNulls(inner); inner == nil {
				delete(value, key)
			}
		}
	case []any:
		for i, inner := range value {
			value[i] = withoutNulls(inner)
		}
	}
	return value
}

func decodeObject(data []byte) (runtime.Object, error) {
	object, _, err := serializer().Decode(data, nil, nil)
	return object, err
}
