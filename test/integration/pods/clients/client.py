"""Lists pods and renews a lease, over and over, with the in-cluster configuration of the unmodified client library."""

import datetime
import hashlib
import select

from kubernetes import client, config

folder = "/var/run/secrets/kubernetes.io/serviceaccount"


def read(name):
    with open(f"{folder}/{name}", encoding="utf8") as file:
        return file.read()


def digest():
    return hashlib.sha256(read("token").encode()).hexdigest()[:12]


def list_pods_anew(namespace):
    """As a program that has just started: with the token of now."""
    fresh = client.Configuration()
    config.load_incluster_config(client_configuration=fresh)
    with client.ApiClient(fresh) as api:
        return len(client.CoreV1Api(api).list_namespaced_pod(namespace).items)


config.load_incluster_config()
leases = client.CoordinationV1Api()
namespace = read("namespace")
while True:
    try:
        token = digest()
        count = list_pods_anew(namespace)
        lease = leases.read_namespaced_lease("python", namespace)
        lease.spec.renew_time = datetime.datetime.now(datetime.timezone.utc)
        leases.replace_namespaced_lease("python", namespace, lease)
        print(f"renewed {token if token == digest() else '-'} pods {count}", flush=True)
    except Exception as error:  # the API may be away for a while
        print(f"failed {type(error).__name__} {str(error)[:300]!r}", flush=True)
    select.select([], [], [], 0.3)  # time.sleep fails under a clock that the test moves
