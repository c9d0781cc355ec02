package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// sample is one way to fill an object.
type sample struct {
	name string
	of   func(entry) runtime.Object
}

// Every field is set, to a value that is not zero.
var full = sample{"full", func(entry entry) runtime.Object {
	filler := &filler{leaf: distinct}
	return filler.object(entry)
}}

// Nothing is set but the name: what a Go client writes all the same.
var zero = sample{"zero", func(entry entry) runtime.Object {
	object := entry.make()
	if named, ok := object.(meta.Object); ok {
		named.SetName("example")
	}
	return object
}}

// Every pointer points to a zero value; lists and maps hold one item of such. What must not get lost.
var pointers = sample{"pointers", func(entry entry) runtime.Object {
	filler := &filler{leaf: func(reflect.Value, string, int) {}, single: true}
	return filler.object(entry)
}}

type filler struct {
	// leaf sets a scalar; count grows with every call.
	leaf   func(value reflect.Value, name string, count int)
	single bool
	count  int
}

func (f *filler) object(entry entry) runtime.Object {
	object := entry.make()
	f.fill(reflect.ValueOf(object).Elem(), entry.kind)
	object.GetObjectKind().SetGroupVersionKind(entry.gvk())
	return object
}

func (f *filler) fill(value reflect.Value, name string) {
	if isScalar(value.Type()) {
		f.count++
		f.leaf(value, name, f.count)
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		f.fill(value.Elem(), name)
	case reflect.Struct:
		for i := range value.NumField() {
			field := value.Type().Field(i)
			if field.Type != reflect.TypeFor[meta.TypeMeta]() && !isNewer(value.Type(), field.Name) {
				f.fill(value.Field(i), lowered(field.Name))
			}
		}
	case reflect.Slice:
		f.fillSlice(value, name)
	case reflect.Map:
		f.fillMap(value, name)
	default:
		panic(fmt.Sprintf("cannot fill %s of %s", name, value.Type()))
	}
}

func (f *filler) fillSlice(value reflect.Value, name string) {
	length := 2
	if f.single || value.Type().Elem().Kind() == reflect.Struct {
		length = 1
	}
	value.Set(reflect.MakeSlice(value.Type(), length, length))
	for i := range length {
		f.fill(value.Index(i), name)
	}
}

func (f *filler) fillMap(value reflect.Value, name string) {
	keys := []string{name + ".b", name + ".a"}
	if f.single {
		keys = []string{""}
	}
	value.Set(reflect.MakeMap(value.Type()))
	for _, key := range keys {
		item := reflect.New(value.Type().Elem()).Elem()
		f.fill(item, name)
		value.SetMapIndex(reflect.ValueOf(key).Convert(value.Type().Key()), item)
	}
}

// isScalar tells what is one value in JSON, though it may be a message on the wire.
func isScalar(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[meta.Time](), reflect.TypeFor[meta.MicroTime](), reflect.TypeFor[meta.Duration](),
		reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](), reflect.TypeFor[meta.FieldsV1](),
		reflect.TypeFor[runtime.RawExtension](), reflect.TypeFor[[]byte]():
		return true
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64, reflect.Float64:
		return true
	}
	return false
}

// distinct sets a value that is not zero and differs from the others. Numbers alternate in sign and size.
func distinct(value reflect.Value, name string, count int) {
	seconds := int64(1_700_000_000 + count)
	sign := int64(1 - 2*(count%2))
	switch target := value.Addr().Interface().(type) {
	case *meta.Time:
		*target = meta.NewTime(time.Unix(seconds, 0).UTC())
	case *meta.MicroTime:
		*target = meta.NewMicroTime(time.Unix(seconds, int64(count)*1000).UTC())
	case *meta.Duration:
		target.Duration = time.Duration(count) * 1500 * time.Millisecond
	case *resource.Quantity:
		*target = resource.MustParse(fmt.Sprintf("%dMi", count))
	case *intstr.IntOrString:
		*target = intstr.FromInt32(int32(count))
		if count%2 == 0 {
			*target = intstr.FromString(fmt.Sprintf("%s-%d", name, count))
		}
	case *meta.FieldsV1:
		target.Raw, _ = json.Marshal(map[string]any{"f:metadata": map[string]any{"f:" + name: map[string]any{}}})
	case *runtime.RawExtension:
		target.Raw, _ = json.Marshal(map[string]any{"count": count})
	case *[]byte:
		*target = []byte{0, 255, byte(count)}
	default:
		switch value.Kind() {
		case reflect.String:
			value.SetString(fmt.Sprintf("%s-%d é", name, count))
		case reflect.Bool:
			value.SetBool(true)
		case reflect.Int32:
			value.SetInt(sign * int64(count))
		case reflect.Int64:
			value.SetInt(sign * (1<<40 + int64(count)))
		default:
			panic(fmt.Sprintf("cannot set %s of %s", name, value.Type()))
		}
	}
}

func lowered(name string) string { return strings.ToLower(name[:1]) + name[1:] }
