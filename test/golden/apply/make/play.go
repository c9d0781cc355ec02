package main

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
)

var typeConverter = applyconfigurations.NewTypeConverter(scheme.Scheme)

// start is when step 0 would be; a step is a second later than the one before.
var start = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func play(scenario scenario) ([]outcome, error) {
	kind := schema.FromAPIVersionAndKind(scenario.APIVersion, scenario.Kind)
	live, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	var outcomes []outcome
	for index, step := range scenario.Steps {
		next, err := write(kind, live, step)
		if err != nil {
			outcomes = append(outcomes, outcome{Error: err.Error()})
			continue
		}
		if live, err = stored(next, index+1); err != nil {
			return nil, err
		}
		shown, err := show(live)
		if err != nil {
			return nil, err
		}
		outcomes = append(outcomes, shown)
	}
	return outcomes, nil
}

func write(kind schema.GroupVersionKind, live runtime.Object, step step) (runtime.Object, error) {
	group := kind.GroupVersion()
	fields, err := managedfields.NewDefaultFieldManager(
		typeConverter, scheme.Scheme, scheme.Scheme, scheme.Scheme, kind, group, step.Through, nil)
	if err != nil {
		return nil, err
	}
	if step.Apply != nil {
		configuration := &unstructured.Unstructured{Object: whole(kind, step.Apply)}
		return fields.Apply(live.DeepCopyObject(), configuration, step.By, step.Force)
	}
	content := step.Update
	if step.Merge != nil {
		if content, err = contentOf(live); err != nil {
			return nil, err
		}
		content = merge(content, step.Merge)
	}
	next, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil, err
	}
	if err := into(whole(kind, content), next); err != nil {
		return nil, err
	}
	return fields.Update(live.DeepCopyObject(), next, step.By)
}

// whole adds what every object has.
func whole(kind schema.GroupVersionKind, content map[string]any) map[string]any {
	object := map[string]any{}
	for name, value := range content {
		object[name] = value
	}
	apiVersion, name := kind.ToAPIVersionAndKind()
	object["apiVersion"], object["kind"] = apiVersion, name
	metadata := map[string]any{"name": "x", "namespace": "default"}
	if given, ok := content["metadata"].(map[string]any); ok {
		for name, value := range given {
			metadata[name] = value
		}
	}
	object["metadata"] = metadata
	return object
}

// merge is RFC 7386.
func merge(into, patch map[string]any) map[string]any {
	result := map[string]any{}
	for name, value := range into {
		result[name] = value
	}
	for name, value := range patch {
		inner, isObject := value.(map[string]any)
		switch {
		case value == nil:
			delete(result, name)
		case isObject:
			below, _ := result[name].(map[string]any)
			result[name] = merge(below, inner)
		default:
			result[name] = value
		}
	}
	return result
}

func contentOf(object runtime.Object) (map[string]any, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	return content, json.Unmarshal(text, &content)
}

func into(content map[string]any, object runtime.Object) error {
	text, err := json.Marshal(content)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, object)
}

// stored gives the object the identity of one that exists, and entries that were made just now the time of the step.
func stored(object runtime.Object, step int) (runtime.Object, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return nil, err
	}
	accessor.SetUID("uid")
	entries := accessor.GetManagedFields()
	for index, entry := range entries {
		if entry.Time != nil && entry.Time.After(start.AddDate(1, 0, 0)) {
			now := metav1.NewTime(start.Add(time.Duration(step) * time.Second))
			entries[index].Time = &now
		}
	}
	accessor.SetManagedFields(entries)
	return object, nil
}

func show(object runtime.Object) (outcome, error) {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return outcome{}, err
	}
	var managers []manager
	for _, entry := range accessor.GetManagedFields() {
		step := 0
		if entry.Time != nil {
			step = int(entry.Time.Sub(start).Seconds())
		}
		managers = append(managers, manager{
			entry.Manager, string(entry.Operation), entry.APIVersion, entry.Subresource, step, entry.FieldsV1.Raw,
		})
	}
	content, err := contentOf(object)
	if err != nil {
		return outcome{}, err
	}
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return outcome{}, fmt.Errorf("an object without metadata")
	}
	for _, name := range []string{"managedFields", "uid", "name", "namespace", "creationTimestamp"} {
		delete(metadata, name)
	}
	return outcome{Object: content, Managers: managers}, nil
}
