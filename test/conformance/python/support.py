"""What the test cases share: a client made from the administrator's kubeconfig, and namespaces of their own."""

import json
import time
import unittest
import uuid

from kubernetes import client, config


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        config.load_kube_config()
        cls.core = client.CoreV1Api()

    def setUp(self):
        self.namespace = f"python-{uuid.uuid4().hex[:8]}"
        self.core.create_namespace(client.V1Namespace(metadata=named(self.namespace)))
        self.await_furnished()

    def await_furnished(self):
        """Waits for what the control plane puts into every namespace."""
        until = time.monotonic() + 30
        while True:
            found = self.core.list_namespaced_config_map(self.namespace).items
            if "kube-root-ca.crt" in [each.metadata.name for each in found]:
                return
            self.assertLess(time.monotonic(), until, "kube-root-ca.crt does not come")
            time.sleep(0.05)

    def assert_refused(self, code, reason, call, *arguments, **options):
        with self.assertRaises(client.ApiException) as caught:
            call(*arguments, **options)
        self.assertEqual(caught.exception.status, code, caught.exception.body)
        status = json.loads(caught.exception.body)
        self.assertEqual((status["kind"], status["reason"]), ("Status", reason))
        return status


def named(name, **fields):
    return client.V1ObjectMeta(name=name, **fields)


def names(items):
    return sorted(each.metadata.name for each in items)
