package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
)

const watchFrame = "meta.k8s.io.v1.WatchEvent"

func rawSerializer() *protobuf.RawSerializer {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(coordination.SchemeGroupVersion, &coordination.Lease{})
	meta.AddToGroupVersion(scheme, coordination.SchemeGroupVersion)
	return protobuf.NewRawSerializer(scheme, scheme)
}

// A frame of the stream of a watch: the event bare, the object in it in its envelope.
func makeWatchFrame(dir string) error {
	lease := full.of(of(coordination.SchemeGroupVersion, &coordination.Lease{})[0])
	var enveloped, framed bytes.Buffer
	if err := serializer().Encode(lease, &enveloped); err != nil {
		return err
	}
	event := &meta.WatchEvent{Type: "MODIFIED", Object: runtime.RawExtension{Raw: enveloped.Bytes()}}
	writer := protobuf.LengthDelimitedFramer.NewFrameWriter(&framed)
	if err := streaming.NewEncoder(writer, rawSerializer()).Encode(event); err != nil {
		return err
	}
	name := filepath.Join(dir, full.name, watchFrame)
	if err := writeJSON(name+".json", map[string]any{"type": event.Type, "object": lease}); err != nil {
		return err
	}
	return os.WriteFile(name+".pb", framed.Bytes(), 0o644)
}

func decodeWatchFrame(data []byte) (runtime.Object, error) {
	reader := protobuf.LengthDelimitedFramer.NewFrameReader(io.NopCloser(bytes.NewReader(data)))
	event := &meta.WatchEvent{}
	gvk := coordination.SchemeGroupVersion.WithKind("WatchEvent")
	if _, _, err := streaming.NewDecoder(reader, rawSerializer()).Decode(&gvk, event); err != nil {
		return nil, err
	}
	object, err := decodeObject(event.Object.Raw)
	if err != nil {
		return nil, err
	}
	event.Object = runtime.RawExtension{Object: object}
	return event, nil
}
