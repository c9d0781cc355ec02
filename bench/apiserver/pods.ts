import type { Sent } from './connection.ts';

export const podsPath = '/api/v1/namespaces/default/pods';

/** The creation of a pod of about 1.5 KiB, as a controller makes it. */
export function podCreation(index: number): Sent {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${index % 500}`, uid: uidOf(index) };
  const pod = {
    metadata: {
      name: `pod-${index}`,
      labels: { app: `web-${index % 500}`, 'pod-template-hash': '5d4f8c7b9' },
      annotations: { 'example.com/checksum': '0123456789abcdef'.repeat(4) },
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      containers: [
        {
          name: 'server',
          image: 'registry.example/team/server:1.27.3',
          args: ['--listen=:8080', '--log-level=info'],
          ports: [{ name: 'http', containerPort: 8080 }],
          env: [{ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
          resources: { requests: { cpu: '100m', memory: '128Mi' } },
          readinessProbe: { httpGet: { path: '/ready', port: 'http' } },
        },
      ],
    },
  };
  return { method: 'POST', path: podsPath, body: JSON.stringify(pod) };
}

function uidOf(index: number): string {
  return `7d5b1a4e-3c1f-4f0e-9a57-${String(index % 500).padStart(12, '0')}`;
}
