"""Runs commands in the pod `shell` of the namespace `default`, by the kubeconfig that is named; says what came as JSON."""
import json
import sys

from kubernetes import client, config
from kubernetes.stream import stream

config.load_kube_config(sys.argv[1])
core = client.CoreV1Api()
ask = dict(name="shell", namespace="default", container="main", stderr=True, stdout=True, tty=False)
connect = core.connect_get_namespaced_pod_exec

told = stream(connect, command=["sh", "-c", "echo out; echo err >&2; exit 7"], stdin=False, _preload_content=False, **ask)
told.run_forever(timeout=30)
session = stream(connect, command=["sh", "-c", "read -r line; echo got $line"], stdin=True, _preload_content=False, **ask)
session.write_stdin("a line\n")
answer = session.readline_stdout(timeout=30)
session.run_forever(timeout=30)
print(json.dumps([told.read_stdout(), told.read_stderr(), told.returncode, answer, session.returncode]))
