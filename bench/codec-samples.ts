import { servedKinds } from '../src/api/kinds/index.ts';
import type { StructType } from '../src/api/schema/index.ts';

export interface CodecSample {
  name: string;
  root: StructType;
  object: object;
}

const uid = '7d5b1a4e-3c1f-4f0e-9a57-2f6f0c1f9d11';
const time = '2026-10-02T08:15:30Z';
const metadata = { name: 'example', uid, resourceVersion: '4711', creationTimestamp: time };

const owner = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid };

const lease = {
  metadata: { ...metadata, namespace: 'kube-node-lease', ownerReferences: [owner] },
  spec: {
    holderIdentity: 'node-1',
    leaseDurationSeconds: 40,
    renewTime: '2026-10-02T08:15:30.123456Z',
  },
};

const conditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
  type,
  status: type === 'Ready' ? 'True' : 'False',
  reason: type === 'Ready' ? 'AgentReady' : 'AgentHasSufficient',
  message: 'the node agent has looked and found nothing to complain of',
  lastHeartbeatTime: time,
  lastTransitionTime: time,
}));
const resources = { cpu: '8', memory: '32827392Ki', pods: '110', 'ephemeral-storage': '102350Mi' };

const node = {
  metadata: {
    ...metadata,
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': 'node-1',
      'kubernetes.io/os': 'linux',
    },
    annotations: { 'node.alpha.kubernetes.io/ttl': '0' },
  },
  spec: { podCIDR: '10.244.0.0/24', podCIDRs: ['10.244.0.0/24'], providerID: 'example:///node-1' },
  status: {
    capacity: resources,
    allocatable: resources,
    conditions,
    addresses: [
      { type: 'InternalIP', address: '192.0.2.7' },
      { type: 'Hostname', address: 'node-1' },
    ],
    daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
    nodeInfo: {
      machineID: 'e1f2a0b5a52f4fbb8b1f0a6f6a1f6f57',
      systemUUID: uid,
      bootID: uid,
      kernelVersion: '6.12.0-1-amd64',
      osImage: 'Debian GNU/Linux 13 (trixie)',
      containerRuntimeVersion: 'containerd://2.1.9',
      kubeletVersion: 'v1.31.0',
      kubeProxyVersion: '',
      operatingSystem: 'linux',
      architecture: 'amd64',
    },
    images: Array.from({ length: 10 }, (_, index) => ({
      names: [`registry.example/team/image-${index}@sha256:${'0123456789abcdef'.repeat(4)}`],
      sizeBytes: 50_000_000 + index,
    })),
  },
};

const clusterRole = {
  metadata: { ...metadata, labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' } },
  rules: Array.from({ length: 8 }, (_, index) => ({
    apiGroups: ['', 'apps'],
    resources: [`things-${index}`, `things-${index}/status`],
    verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'],
  })),
};

const container = (name: string) => ({
  name,
  image: `registry.example/team/${name}:1.27.3`,
  command: ['/bin/server', '--listen=:8080'],
  ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
  env: [
    { name: 'MODE', value: 'production' },
    { name: 'NODE_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
  ],
  resources: { limits: { cpu: '500m', memory: '256Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
  volumeMounts: [{ name: 'data', mountPath: '/data' }],
  livenessProbe: {
    httpGet: { path: '/healthz', port: 'http', scheme: 'HTTP' },
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  },
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  imagePullPolicy: 'IfNotPresent',
  securityContext: { runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
});

const pod = {
  metadata: { ...metadata, namespace: 'default', labels: { app: 'example', 'pod-template-hash': '5d4f' } },
  spec: {
    volumes: [{ name: 'data', emptyDir: {} }],
    containers: [container('server'), container('sidecar')],
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    serviceAccountName: 'default',
    nodeName: 'node-1',
    securityContext: {},
    schedulerName: 'default-scheduler',
    tolerations: [
      {
        key: 'node.kubernetes.io/not-ready',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
    ],
    priority: 0,
    enableServiceLinks: true,
  },
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: time }],
    hostIP: '192.0.2.7',
    podIP: '10.244.0.9',
    podIPs: [{ ip: '10.244.0.9' }],
    startTime: time,
    qosClass: 'Burstable',
  },
};

/** Objects as they are in daily use: a heartbeat, a node of ten images, a role of eight rules, a pod of two containers. */
export function codecSamples(): readonly CodecSample[] {
  return Object.entries({ Lease: lease, Node: node, ClusterRole: clusterRole, Pod: pod }).map(
    ([name, object]) => {
      const kind = servedKinds.find((served) => served.kind === name);
      if (kind === undefined) throw new Error(`${name} is not served`);
      return { name, root: kind.root, object };
    },
  );
}
