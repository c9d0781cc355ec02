package main

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
)

// markers says for every field that has some, by its name in JSON, how it is merged: what stands in the comment above
// it (listType=map listMapKey=name) and in its tags (patchStrategy=merge patchMergeKey=name). What stands above the
// type itself has no name.
type markers map[string]string

// merging gives the markers of the kinds and of all that they are made of.
func merging(entries []entry) (map[string]markers, error) {
	types := map[string]reflect.Type{}
	for _, entry := range entries {
		reach(entry.goes, types)
	}
	sources := sources{}
	found := map[string]markers{}
	for name, t := range types {
		marked := markers{}
		comments, err := sources.of(t)
		if err != nil {
			return nil, err
		}
		if marker := comments[""]; marker != "" {
			marked[""] = marker
		}
		if err := addMarkers(t, sources, marked); err != nil {
			return nil, err
		}
		if len(marked) > 0 {
			found[name] = marked
		}
	}
	return found, nil
}

// reach notes every struct below a type.
func reach(t reflect.Type, types map[string]reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		reach(t.Elem(), types)
	case reflect.Struct:
		if _, known := types[shapeName(t)]; known || isScalar(t) {
			return
		}
		types[shapeName(t)] = t
		for i := range t.NumField() {
			if !isNewer(t, t.Field(i).Name) {
				reach(t.Field(i).Type, types)
			}
		}
	}
}

// addMarkers adds those of the fields; also of the fields of structs that Go embeds.
func addMarkers(t reflect.Type, sources sources, marked markers) error {
	comments, err := sources.of(t)
	if err != nil {
		return err
	}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		number := protobufNumber(field)
		if isNewer(t, field.Name) || number == "" {
			continue
		}
		if name == "" {
			if err := addMarkers(field.Type, sources, marked); err != nil {
				return err
			}
			continue
		}
		all := strings.Fields(comments[field.Name])
		for _, key := range []string{"patchStrategy", "patchMergeKey"} {
			if value := field.Tag.Get(key); value != "" {
				all = append(all, key+"="+value)
			}
		}
		if len(all) > 0 {
			marked[name] = strings.Join(all, " ")
		}
	}
	return nil
}

// sources holds, by package and type, the markers in the comments of each field.
type sources map[string]map[string]map[string]string

func (s sources) of(t reflect.Type) (map[string]string, error) {
	types, known := s[t.PkgPath()]
	if !known {
		var err error
		if types, err = readComments(t.PkgPath()); err != nil {
			return nil, err
		}
		s[t.PkgPath()] = types
	}
	fields, known := types[t.Name()]
	if !known {
		return nil, fmt.Errorf("no source of %s in %s", t.Name(), t.PkgPath())
	}
	return fields, nil
}

func readComments(path string) (map[string]map[string]string, error) {
	folder := filepath.Join(build.Default.GOPATH, "src", path)
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	types := map[string]map[string]string{}
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(folder, file.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		for _, declaration := range parsed.Decls {
			if general, ok := declaration.(*ast.GenDecl); ok {
				addTypes(general, types)
			}
		}
	}
	return types, nil
}

func addTypes(declaration *ast.GenDecl, types map[string]map[string]string) {
	for _, spec := range declaration.Specs {
		named, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		body, ok := named.Type.(*ast.StructType)
		if !ok {
			continue
		}
		fields := map[string]string{"": markersIn(declaration.Doc, named.Doc)}
		for _, field := range body.Fields.List {
			for _, name := range field.Names {
				fields[name.Name] = markersIn(field.Doc)
			}
		}
		types[named.Name.Name] = fields
	}
}

func markersIn(comments ...*ast.CommentGroup) string {
	var found []string
	for _, comment := range comments {
		if comment == nil {
			continue
		}
		for _, line := range comment.List {
			text := strings.TrimPrefix(strings.TrimSpace(strings.TrimPrefix(line.Text, "//")), "+")
			for _, marker := range []string{"listType=", "listMapKey=", "mapType=", "structType="} {
				if strings.HasPrefix(text, marker) {
					found = append(found, text)
				}
			}
		}
	}
	return strings.Join(found, " ")
}
