package main

import (
	"reflect"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	oldautoscaling "k8s.io/api/autoscaling/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	certificates "k8s.io/api/certificates/v1"
	beta "k8s.io/api/certificates/v1beta1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	flowcontrol "k8s.io/api/flowcontrol/v1"
	networking "k8s.io/api/networking/v1"
	node "k8s.io/api/node/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	devices "k8s.io/api/resource/v1"
	scheduling "k8s.io/api/scheduling/v1"
	storage "k8s.io/api/storage/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	aggregation "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// newer are fields that these packages know and the API that is served does not: it ends with version 1.31. They get
// neither a value nor a place among the shapes. To serve one of them is to take it off here and to make the files anew.
var newer = map[string]bool{
	"ListMeta.ShardInfo": true,
}

func isNewer(in reflect.Type, field string) bool { return newer[in.Name()+"."+field] }

// entry is a kind of which samples are made.
type entry struct {
	group schema.GroupVersion
	kind  string
	goes  reflect.Type
}

func (e entry) gvk() schema.GroupVersionKind { return e.group.WithKind(e.kind) }

// make gives an empty object that says its type.
func (e entry) make() runtime.Object {
	object := reflect.New(e.goes).Interface().(runtime.Object)
	object.GetObjectKind().SetGroupVersionKind(e.gvk())
	return object
}

func of(group schema.GroupVersion, objects ...runtime.Object) []entry {
	var entries []entry
	for _, object := range objects {
		goes := reflect.TypeOf(object).Elem()
		entries = append(entries, entry{group, goes.Name(), goes})
	}
	return entries
}

func kinds() []entry {
	groups := [][]entry{
		of(core.SchemeGroupVersion, &core.Namespace{}, &core.Node{}, &core.Pod{}, &core.ConfigMap{}, &core.Secret{},
			&core.ServiceAccount{}, &core.Event{}, &core.Binding{}, &core.Service{},
			&core.PersistentVolume{}, &core.PersistentVolumeClaim{}, &core.ReplicationController{}, &core.PodTemplate{},
			&core.Endpoints{}, &core.ResourceQuota{}, &core.LimitRange{}, &core.ComponentStatus{}),
		of(apps.SchemeGroupVersion, &apps.ReplicaSet{}, &apps.Deployment{}, &apps.StatefulSet{}, &apps.DaemonSet{},
			&apps.ControllerRevision{}),
		of(batch.SchemeGroupVersion, &batch.Job{}, &batch.CronJob{}),
		of(oldautoscaling.SchemeGroupVersion, &oldautoscaling.Scale{}, &oldautoscaling.HorizontalPodAutoscaler{}),
		of(autoscaling.SchemeGroupVersion, &autoscaling.HorizontalPodAutoscaler{}),
		of(discovery.SchemeGroupVersion, &discovery.EndpointSlice{}),
		of(scheduling.SchemeGroupVersion, &scheduling.PriorityClass{}),
		of(networking.SchemeGroupVersion, &networking.Ingress{}, &networking.IngressClass{}, &networking.NetworkPolicy{},
			&networking.ServiceCIDR{}, &networking.IPAddress{}),
		of(devices.SchemeGroupVersion, &devices.ResourceClaim{}, &devices.ResourceClaimTemplate{},
			&devices.ResourceSlice{}, &devices.DeviceClass{}),
		of(schema.GroupVersion{Version: "v1"}, &meta.Status{}, &meta.DeleteOptions{}, &meta.APIGroup{},
			&meta.APIGroupList{}, &meta.APIResourceList{}, &meta.APIVersions{}),
		of(meta.SchemeGroupVersion, &meta.PartialObjectMetadata{}, &meta.PartialObjectMetadataList{}),
		of(events.SchemeGroupVersion, &events.Event{}),
		of(coordination.SchemeGroupVersion, &coordination.Lease{}, &coordination.LeaseList{}),
		of(certificates.SchemeGroupVersion, &certificates.CertificateSigningRequest{}),
		of(beta.SchemeGroupVersion, &beta.ClusterTrustBundle{}),
		of(rbac.SchemeGroupVersion, &rbac.Role{}, &rbac.RoleBinding{}, &rbac.ClusterRole{}, &rbac.ClusterRoleBinding{}),
		of(authorization.SchemeGroupVersion, &authorization.SubjectAccessReview{},
			&authorization.LocalSubjectAccessReview{}, &authorization.SelfSubjectAccessReview{},
			&authorization.SelfSubjectRulesReview{}),
		of(authentication.SchemeGroupVersion, &authentication.TokenReview{}, &authentication.SelfSubjectReview{},
			&authentication.TokenRequest{}),
		of(policy.SchemeGroupVersion, &policy.Eviction{}, &policy.PodDisruptionBudget{}),
		of(storage.SchemeGroupVersion, &storage.CSINode{}, &storage.StorageClass{}, &storage.VolumeAttachment{},
			&storage.CSIDriver{}, &storage.CSIStorageCapacity{}, &storage.VolumeAttributesClass{}),
		of(node.SchemeGroupVersion, &node.RuntimeClass{}),
		of(admission.SchemeGroupVersion, &admission.ValidatingWebhookConfiguration{},
			&admission.MutatingWebhookConfiguration{}, &admission.ValidatingAdmissionPolicy{},
			&admission.ValidatingAdmissionPolicyBinding{}, &admission.MutatingAdmissionPolicy{},
			&admission.MutatingAdmissionPolicyBinding{}),
		of(flowcontrol.SchemeGroupVersion, &flowcontrol.FlowSchema{}, &flowcontrol.PriorityLevelConfiguration{}),
		of(aggregation.SchemeGroupVersion, &aggregation.APIService{}),
	}
	var all []entry
	for _, entries := range groups {
		all = append(all, entries...)
	}
	return all
}

// serializer is the reference's own, with the envelope.
func serializer() *protobuf.Serializer {
	scheme := runtime.NewScheme()
	for _, entry := range kinds() {
		scheme.AddKnownTypeWithName(entry.gvk(), entry.make())
	}
	return protobuf.NewSerializer(scheme, scheme)
}
