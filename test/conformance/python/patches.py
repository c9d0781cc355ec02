"""Patches: by typed calls, whose media type follows from the body, and by the dynamic client, which is told it."""

import json

from kubernetes import client, dynamic

from support import Case, named

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"


class Patches(Case):
    def setUp(self):
        super().setUp()
        self.dynamic = dynamic.DynamicClient(client.ApiClient())

    def make_account(self, *secrets):
        references = [client.V1ObjectReference(name=name) for name in secrets]
        body = client.V1ServiceAccount(metadata=named("robot"), secrets=references)
        self.core.create_namespaced_service_account(self.namespace, body)

    def test_typed_calls(self):
        self.make_account("a")

        def patch(body, **options):
            patched = self.core.patch_namespaced_service_account("robot", self.namespace, body, **options)
            return sorted(each.name for each in patched.secrets)

        self.assertEqual(patch({"secrets": [{"name": "b"}]}), ["a", "b"])
        delete = {"secrets": [{"$patch": "delete", "name": "a"}]}
        self.assertEqual(patch(delete, dry_run="All"), ["b"])
        self.assertEqual(patch([{"op": "add", "path": "/secrets/-", "value": {"name": "c"}}]), ["a", "b", "c"])
        self.assert_refused(422, "Invalid", patch, [{"op": "remove", "path": "/secrets/9"}])

    def test_status_and_scope(self):
        self.core.create_node(client.V1Node(metadata=named(self.namespace)))
        status = client.V1Node(status=client.V1NodeStatus(capacity={"cpu": "4"}))
        told = self.core.patch_node_status(self.namespace, status)
        self.assertEqual(told.status.capacity, {"cpu": "4"})
        cordoned = self.core.patch_node(self.namespace, {"spec": {"unschedulable": True}})
        self.assertTrue(cordoned.spec.unschedulable)
        self.core.delete_node(self.namespace)
        labelled = self.core.patch_namespace(self.namespace, {"metadata": {"labels": {"team": "red"}}})
        self.assertEqual(labelled.metadata.labels["team"], "red")

    def test_apply_by_content_type(self):
        api = client.ApiClient()
        place = f"/api/v1/namespaces/{self.namespace}/configmaps/one"

        def apply(manager, data, **query):
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data}
            return api.call_api(
                place,
                "PATCH",
                query_params=[("fieldManager", manager), *query.items()],
                header_params={"Content-Type": "application/apply-patch+yaml", "Accept": "application/json"},
                body=json.dumps(manifest),
                response_type="V1ConfigMap",
                auth_settings=["BearerToken"],
                _return_http_data_only=True,
            )

        created = apply("ann", {"a": "1", "b": "2"})
        self.assertEqual([(each.manager, each.operation) for each in created.metadata.managed_fields], [("ann", "Apply")])
        status = self.assert_refused(409, "Conflict", apply, "bob", {"a": "2"})
        cause = status["details"]["causes"][0]
        self.assertEqual((cause["reason"], cause["field"]), ("FieldManagerConflict", ".data.a"))
        # the client writes a boolean in Python's way
        self.assertEqual(apply("bob", {"a": "2"}, force=True).data, {"a": "2", "b": "2"})
        self.assertEqual(apply("ann", {}).data, {"a": "2"})

    def test_dynamic_client(self):
        self.make_account("a")
        api = self.dynamic.resources.get(api_version="v1", kind="ServiceAccount")

        def patch(body, **options):
            patched = api.patch(name="robot", namespace=self.namespace, body=body, **options)
            return sorted(each.name for each in patched.secrets)

        self.assertEqual(patch({"secrets": [{"name": "b"}]}), ["a", "b"])
        self.assertEqual(patch({"secrets": [{"name": "c"}]}, content_type=MERGE_PATCH), ["c"])
        add = [{"op": "add", "path": "/secrets/-", "value": {"name": "d"}}]
        self.assertEqual(patch(add, content_type=JSON_PATCH), ["c", "d"])
        with self.assertRaises(dynamic.exceptions.UnprocessibleEntityError):
            patch([{"op": "test", "path": "/secrets/0/name", "value": "x"}], content_type=JSON_PATCH)

    def test_dynamic_server_side_apply(self):
        api = self.dynamic.resources.get(api_version="v1", kind="ConfigMap")

        def apply(manager, data, **options):
            manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one"}, "data": data}
            return api.server_side_apply(
                # this release sends only text with such a media type
                body=json.dumps(manifest),
                name="one",
                namespace=self.namespace,
                field_manager=manager,
                **options,
            )

        self.assertEqual(apply("ann", {"a": "1"}).to_dict()["data"], {"a": "1"})
        with self.assertRaises(dynamic.exceptions.ConflictError):
            apply("bob", {"a": "2"})
        self.assertEqual(apply("bob", {"a": "2"}, force_conflicts=True).data.a, "2")
