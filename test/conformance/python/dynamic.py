"""The dynamic client, which knows kinds by discovery, and objects from a file."""

import io

import yaml
from kubernetes import client, dynamic, utils

from support import Case

RBAC = "rbac.authorization.k8s.io"

MANIFESTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: one}
data: {colour: blue}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: one}
---
apiVersion: v1
kind: Pod
metadata: {name: one}
spec: {schedulerName: nobody, containers: [{name: main, image: busybox}]}
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: one}
spec: {holderIdentity: ann}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: one}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: one}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: one}
subjects: [{kind: ServiceAccount, name: one}]
"""


class Dynamic(Case):
    def setUp(self):
        super().setUp()
        self.client = dynamic.DynamicClient(client.ApiClient())

    def manifests(self):
        for manifest in yaml.safe_load_all(io.StringIO(MANIFESTS)):
            if manifest["kind"] == "RoleBinding":
                manifest["subjects"][0]["namespace"] = self.namespace
            yield manifest

    def test_every_kind(self):
        for manifest in self.manifests():
            with self.subTest(kind=manifest["kind"]):
                place = {"namespace": self.namespace}
                api = self.client.resources.get(api_version=manifest["apiVersion"], kind=manifest["kind"])
                created = api.create(body=manifest, **place)
                self.assertEqual(api.get(name="one", **place).metadata.uid, created.metadata.uid)
                changed = api.get(name="one", **place).to_dict()
                changed["metadata"]["labels"] = {"seen": "yes"}
                self.assertEqual(api.replace(body=changed, **place).metadata.labels.seen, "yes")
                listed = api.get(label_selector="seen=yes", **place)
                self.assertEqual([each.metadata.name for each in listed.items], ["one"])
                self.assertEqual(api.delete(name="one", **place).status, "Success")
                with self.assertRaises(dynamic.exceptions.NotFoundError):
                    api.get(name="one", **place)

    def test_watch_and_collection(self):
        api = self.client.resources.get(api_version="v1", kind="ConfigMap")
        version = api.get(namespace=self.namespace).metadata.resourceVersion
        for name in ["one", "two"]:
            api.create(body={"metadata": {"name": name, "labels": {"app": "web"}}}, namespace=self.namespace)
        stream = api.watch(namespace=self.namespace, resource_version=version, timeout=1)
        seen = [(event["type"], event["object"].metadata.name) for event in stream]
        self.assertEqual(seen, [("ADDED", "one"), ("ADDED", "two")])
        api.delete(namespace=self.namespace, label_selector="app=web")
        self.assertEqual(api.get(namespace=self.namespace, label_selector="app=web").items, [])

    def test_short_and_singular_names(self):
        found = self.client.resources.search(short_names=["cm"])
        self.assertIn("ConfigMap", [each.kind for each in found])
        role = self.client.resources.get(api_version=f"{RBAC}/v1", singular_name="clusterrole")
        self.assertFalse(role.namespaced)

    def test_objects_from_a_file(self):
        utils.create_from_yaml(
            client.ApiClient(), yaml_objects=list(self.manifests()), namespace=self.namespace
        )
        self.assertEqual(
            self.core.read_namespaced_config_map("one", self.namespace).data, {"colour": "blue"}
        )
