"""watch.Watch over the calls that list."""

from kubernetes import client, watch

from support import Case, named


class Watching(Case):
    def config_map(self, name, **data):
        return client.V1ConfigMap(metadata=named(name), data=data)

    def test_changes_from_a_version_on(self):
        version = self.core.list_namespaced_config_map(self.namespace).metadata.resource_version
        self.core.create_namespaced_config_map(self.namespace, self.config_map("one", n="1"))
        self.core.replace_namespaced_config_map("one", self.namespace, self.config_map("one", n="2"))
        self.core.delete_namespaced_config_map("one", self.namespace)
        seen = []
        watching = watch.Watch()
        stream = watching.stream(
            self.core.list_namespaced_config_map,
            self.namespace,
            resource_version=version,
            timeout_seconds=20,
        )
        for event in stream:
            seen.append((event["type"], event["object"].metadata.name, event["object"].data["n"]))
            if event["type"] == "DELETED":
                watching.stop()
        self.assertEqual(seen, [("ADDED", "one", "1"), ("MODIFIED", "one", "2"), ("DELETED", "one", "2")])

    def test_ends_when_its_time_is_over(self):
        found = [event["object"].metadata.name for event in watch.Watch().stream(
            self.core.list_namespace, timeout_seconds=1, field_selector=f"metadata.name={self.namespace}"
        )]
        self.assertEqual(found, [self.namespace])

    def test_a_refusal_is_no_empty_stream(self):
        stream = watch.Watch().stream(self.core.list_namespace, field_selector="spec.nothing=x")
        with self.assertRaises(client.ApiException) as caught:
            next(stream)
        self.assertEqual(caught.exception.status, 400)
