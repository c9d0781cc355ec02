"""The typed calls: one class for each group, one method for each verb and kind."""

import json
from datetime import datetime, timezone

from kubernetes import client

from support import Case, named, names

MOMENT = datetime(2024, 1, 1, 12, 30, 0, 123000, tzinfo=timezone.utc)


class Objects(Case):
    def test_config_map(self):
        body = client.V1ConfigMap(metadata=named("one", labels={"app": "web"}), data={"colour": "blue"})
        created = self.core.create_namespaced_config_map(self.namespace, body)
        self.assertIsInstance(created.metadata.creation_timestamp, datetime)
        self.assert_refused(409, "AlreadyExists", self.core.create_namespaced_config_map, self.namespace, body)
        self.assertEqual(self.core.read_namespaced_config_map("one", self.namespace).data, {"colour": "blue"})
        found = self.core.list_namespaced_config_map(self.namespace, label_selector="app in (web)")
        self.assertEqual(names(found.items), ["one"])

        created.data = {"colour": "green"}
        replaced = self.core.replace_namespaced_config_map("one", self.namespace, created)
        self.assertEqual(replaced.data, {"colour": "green"})
        self.assertEqual(replaced.metadata.uid, created.metadata.uid)
        self.assert_refused(
            409, "Conflict", self.core.replace_namespaced_config_map, "one", self.namespace, created
        )
        status = self.core.delete_namespaced_config_map("one", self.namespace)
        self.assertEqual(status.status, "Success")
        self.assert_refused(404, "NotFound", self.core.read_namespaced_config_map, "one", self.namespace)

    def test_collections(self):
        for name in ["a-1", "a-2", "a-3", "b-1"]:
            metadata = named(name, labels={"group": name[0]})
            secret = client.V1Secret(metadata=metadata, string_data={"key": name})
            self.core.create_namespaced_secret(self.namespace, secret)
        dry = client.V1Secret(metadata=named("dry"))
        self.core.create_namespaced_secret(self.namespace, dry, dry_run="All")
        found = self.core.list_namespaced_secret(self.namespace).items
        self.assertEqual(names(found), ["a-1", "a-2", "a-3", "b-1"])
        self.assertEqual(found[3].data, {"key": "Yi0x"})
        self.core.delete_collection_namespaced_secret(self.namespace, label_selector="group=a")
        self.assertEqual(names(self.core.list_namespaced_secret(self.namespace).items), ["b-1"])

    def test_pod(self):
        container = client.V1Container(name="main", image="busybox")
        spec = client.V1PodSpec(containers=[container], scheduler_name="nobody")
        self.core.create_namespaced_pod(self.namespace, client.V1Pod(metadata=named("web"), spec=spec))
        target = client.V1ObjectReference(api_version="v1", kind="Node", name="somewhere")
        binding = client.V1Binding(metadata=named("web"), target=target)
        # the client cannot read a Status as a Binding
        self.core.create_namespaced_pod_binding("web", self.namespace, binding, _preload_content=False)
        bound = self.core.read_namespaced_pod("web", self.namespace)
        self.assertEqual(bound.spec.node_name, "somewhere")
        bound.status.phase = "Running"
        bound.status.start_time = MOMENT.replace(microsecond=0)
        told = self.core.replace_namespaced_pod_status("web", self.namespace, bound)
        self.assertEqual(told.status.start_time, bound.status.start_time)
        on_node = self.core.list_pod_for_all_namespaces(field_selector="spec.nodeName=somewhere")
        self.assertIn("web", names(on_node.items))
        eviction = client.V1Eviction(metadata=named("web", namespace=self.namespace))
        self.core.create_namespaced_pod_eviction("web", self.namespace, eviction)
        self.assertIsNotNone(self.core.read_namespaced_pod("web", self.namespace).metadata.deletion_timestamp)
        self.core.delete_namespaced_pod("web", self.namespace, grace_period_seconds=0)
        self.assert_refused(404, "NotFound", self.core.read_namespaced_pod, "web", self.namespace)

    def test_lease(self):
        leases = client.CoordinationV1Api()
        spec = client.V1LeaseSpec(holder_identity="ann", lease_duration_seconds=40, renew_time=MOMENT)
        leases.create_namespaced_lease(self.namespace, client.V1Lease(metadata=named("one"), spec=spec))
        read = leases.read_namespaced_lease("one", self.namespace)
        self.assertEqual(read.spec.renew_time, MOMENT)
        read.spec.holder_identity = "bob"
        leases.replace_namespaced_lease("one", self.namespace, read)
        self.assertEqual(leases.list_namespaced_lease(self.namespace).items[0].spec.holder_identity, "bob")
        leases.delete_namespaced_lease("one", self.namespace, propagation_policy="Background")
        self.assertEqual(leases.list_namespaced_lease(self.namespace).items, [])

    def test_roles(self):
        rbac = client.RbacAuthorizationV1Api()
        rule = client.V1PolicyRule(api_groups=[""], resources=["pods"], verbs=["get"])
        rbac.create_namespaced_role(self.namespace, client.V1Role(metadata=named("reader"), rules=[rule]))
        group = "rbac.authorization.k8s.io"
        ref = client.V1RoleRef(api_group=group, kind="Role", name="reader")
        subject = client.V1Subject(kind="Group", name="crew")
        binding = client.V1RoleBinding(metadata=named("readers"), role_ref=ref, subjects=[subject])
        created = rbac.create_namespaced_role_binding(self.namespace, binding)
        self.assertEqual(created.subjects[0].api_group, group)
        created.role_ref.name = "other"
        status = self.assert_refused(
            422, "Invalid", rbac.replace_namespaced_role_binding, "readers", self.namespace, created
        )
        self.assertEqual(status["details"]["causes"][0]["field"], "roleRef")
        empty = client.V1Role(metadata=named("empty"), rules=[client.V1PolicyRule(api_groups=[""], verbs=[])])
        self.assert_refused(422, "Invalid", rbac.create_namespaced_role, self.namespace, empty)

    def test_events(self):
        events = client.EventsV1Api()
        regarding = client.V1ObjectReference(kind="ConfigMap", namespace=self.namespace, name="one")
        event = client.EventsV1Event(
            metadata=named("one.seen"),
            event_time=MOMENT,
            regarding=regarding,
            reason="Seen",
            action="Look",
            type="Normal",
            note="was looked at",
            reporting_controller="example.com/watcher",
            reporting_instance="one",
        )
        events.create_namespaced_event(self.namespace, event)
        selector = "involvedObject.name=one,reason=Seen"
        found = self.core.list_namespaced_event(self.namespace, field_selector=selector).items
        self.assertEqual([each.message for each in found], ["was looked at"])
        self.assertEqual(found[0].event_time, MOMENT)

    def test_cluster_wide(self):
        node = self.core.create_node(client.V1Node(metadata=named(self.namespace)))
        node.status = client.V1NodeStatus(capacity={"cpu": "4"})
        self.assertEqual(self.core.replace_node_status(self.namespace, node).status.capacity, {"cpu": "4"})
        self.core.delete_node(self.namespace)
        self.core.delete_namespace(self.namespace)

    def test_csi_node(self):
        driver = client.V1CSINodeDriver(name="disk.example.com", node_id="one")
        spec = client.V1CSINodeSpec(drivers=[driver])
        storage = client.StorageV1Api()
        storage.create_csi_node(client.V1CSINode(metadata=named(self.namespace), spec=spec))
        self.assertEqual(storage.read_csi_node(self.namespace).spec.drivers[0].node_id, "one")
        # A deletion answers a Status, which this typed call would read as a CSINode without its spec.
        answer = storage.delete_csi_node(self.namespace, _preload_content=False)
        self.assertEqual(json.loads(answer.data)["details"]["name"], self.namespace)
        self.assert_refused(404, "NotFound", storage.read_csi_node, self.namespace)


class Reviews(Case):
    def test_access(self):
        api = client.AuthorizationV1Api()
        wanted = client.V1ResourceAttributes(namespace=self.namespace, verb="get", resource="pods")
        mine = client.V1SelfSubjectAccessReview(
            spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=wanted)
        )
        self.assertTrue(api.create_self_subject_access_review(mine).status.allowed)
        spec = client.V1SubjectAccessReviewSpec(user="nobody-in-particular", resource_attributes=wanted)
        other = client.V1SubjectAccessReview(spec=spec)
        self.assertFalse(api.create_subject_access_review(other).status.allowed)
        spec = client.V1SelfSubjectRulesReviewSpec(namespace=self.namespace)
        rules = api.create_self_subject_rules_review(client.V1SelfSubjectRulesReview(spec=spec))
        self.assertIn(["*"], [rule.verbs for rule in rules.status.resource_rules])
