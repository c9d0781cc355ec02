package main

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// shape says for every field, by its name in JSON, "NUMBER TYPE": the number in protobuf (WITHIN.NUMBER where Go
// embeds) and the type: a scalar, #NAME for another shape, with * for a pointer, [] for a list, map: for a map.
type shape map[string]string

// shapes gives the shapes of the kinds and of all that they are made of.
func shapes(entries []entry) map[string]shape {
	all := map[string]shape{}
	for _, entry := range entries {
		collect(entry.goes, all)
	}
	return all
}

func collect(t reflect.Type, all map[string]shape) {
	if _, known := all[shapeName(t)]; known {
		return
	}
	fields := shape{}
	all[shapeName(t)] = fields
	addFields(t, "", fields, all)
}

func addFields(t reflect.Type, within string, fields shape, all map[string]shape) {
	for i := range t.NumField() {
		field := t.Field(i)
		if isNewer(t, field.Name) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		number := protobufNumber(field)
		if name == "" && number != "" {
			addFields(field.Type, within+number+".", fields, all)
		} else if number != "" {
			fields[name] = within + inMessage(number, field.Type) + " " + typeName(field.Type, all)
		}
	}
}

// Verbs is a list in JSON, and a message with the list as its field 1.
func inMessage(number string, t reflect.Type) string {
	if t == reflect.TypeFor[meta.Verbs]() {
		return number + ".1"
	}
	return number
}

// TypeMeta has no number: it stands in the envelope.
func protobufNumber(field reflect.StructField) string {
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return ""
	}
	return parts[1]
}

var scalars = map[reflect.Type]string{
	reflect.TypeFor[meta.Time]():            "time",
	reflect.TypeFor[meta.MicroTime]():       "microTime",
	reflect.TypeFor[meta.Duration]():        "duration",
	reflect.TypeFor[resource.Quantity]():    "quantity",
	reflect.TypeFor[intstr.IntOrString]():   "intOrString",
	reflect.TypeFor[meta.FieldsV1]():        "fieldsV1",
	reflect.TypeFor[runtime.RawExtension](): "raw",
	reflect.TypeFor[[]byte]():               "bytes",
}

func typeName(t reflect.Type, all map[string]shape) string {
	if scalar, ok := scalars[t]; ok {
		return scalar
	}
	switch t.Kind() {
	case reflect.Pointer:
		return "*" + typeName(t.Elem(), all)
	case reflect.Slice:
		return "[]" + typeName(t.Elem(), all)
	case reflect.Map:
		return "map:" + typeName(t.Elem(), all)
	case reflect.Struct:
		collect(t, all)
		return "#" + shapeName(t)
	case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		return t.Kind().String()
	case reflect.Float64:
		return "double"
	}
	panic(fmt.Sprintf("%s has no place in a message", t))
}

// core/v1.Pod
func shapeName(t reflect.Type) string {
	parts := strings.Split(t.PkgPath(), "/")
	return strings.Join(parts[len(parts)-2:], "/") + "." + t.Name()
}
