import { nameOf } from './apiserver/renewals.ts';

/** What an agent tells of its node: conditions, addresses, capacity, and twenty images. About 5 KB. */
export function nodeBody(node: number, timeMs: number): string {
  const capacity = { cpu: '8', memory: '32842540Ki', 'ephemeral-storage': '263000000Ki', pods: '110' };
  const images = Array.from({ length: 20 }, (_, image) => ({
    names: [
      `registry.example.org/team-${image % 4}/service-${image}@sha256:${String(image).padStart(64, '0')}`,
      `registry.example.org/team-${image % 4}/service-${image}:v1.${image}`,
    ],
    sizeBytes: 100_000_000 + image,
  }));
  const name = nameOf(node);
  return JSON.stringify({
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        'topology.kubernetes.io/zone': `zone-${node % 3}`,
      },
    },
    status: {
      capacity,
      allocatable: capacity,
      conditions: conditionsAt(timeMs),
      addresses: [
        { type: 'InternalIP', address: `10.${node >> 14}.${(node >> 7) & 127}.${node & 127}` },
        { type: 'Hostname', address: name },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      images,
    },
  });
}

/** What it sends when nothing but the time is new: a strategic merge patch of its conditions. */
export function statusPatch(timeMs: number): string {
  return JSON.stringify({ status: { conditions: conditionsAt(timeMs) } });
}

function conditionsAt(timeMs: number) {
  const lastHeartbeatTime = `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
  const one = (type: string, status: string, reason: string, message: string) => ({
    type,
    status,
    lastHeartbeatTime,
    lastTransitionTime: '2026-01-01T00:00:00Z',
    reason,
    message,
  });
  return [
    one('MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'),
    one('DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'),
    one('PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'),
    one('Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'),
  ];
}
