/** Objects that the suites send, each with the fewest fields that it can do with. */

export type Manifest = Record<string, unknown>;

interface Metadata {
  name?: string;
  namespace?: string;
  labels?: Readonly<Record<string, string>>;
  finalizers?: readonly string[];
  ownerReferences?: readonly object[];
  generateName?: string;
}

type Naming = string | Metadata;

function metadata(naming: Naming): Metadata {
  return typeof naming === 'string' ? { name: naming } : naming;
}

export function configMap(naming: Naming, data: Readonly<Record<string, string>> = {}): Manifest {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: metadata(naming), data };
}

export function secret(naming: Naming, stringData: Readonly<Record<string, string>> = {}): Manifest {
  return { apiVersion: 'v1', kind: 'Secret', metadata: metadata(naming), stringData };
}

export function serviceAccount(naming: Naming): Manifest {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata(naming) };
}

/** No scheduler goes by that name, so nobody writes the pod between two steps of a test. */
export function pod(naming: Naming, spec: object = {}): Manifest {
  const given = { containers: [{ name: 'main', image: 'busybox' }], schedulerName: 'nobody' };
  return { apiVersion: 'v1', kind: 'Pod', metadata: metadata(naming), spec: { ...given, ...spec } };
}

export function node(naming: Naming, fields: object = {}): Manifest {
  return { apiVersion: 'v1', kind: 'Node', metadata: metadata(naming), ...fields };
}

export function lease(naming: Naming, holderIdentity = 'me'): Manifest {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: metadata(naming),
    spec: { holderIdentity, leaseDurationSeconds: 40 },
  };
}

export function event(name: string, namespace: string, about: string, uid?: string): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace },
    involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', name: about, namespace, uid },
    reason: 'Seen',
    message: `${about} was looked at`,
    type: 'Normal',
    source: { component: 'watcher', host: 'here' },
    firstTimestamp: '2024-01-01T00:00:00Z',
    lastTimestamp: '2024-01-01T00:00:00Z',
    count: 3,
  };
}

export function csiNode(naming: Naming): Manifest {
  const drivers = [{ name: 'disk.example.com', nodeID: 'one', topologyKeys: ['zone'] }];
  return { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', metadata: metadata(naming), spec: { drivers } };
}

export function service(naming: Naming): Manifest {
  const spec = { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] };
  return { apiVersion: 'v1', kind: 'Service', metadata: metadata(naming), spec };
}

const claimed = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };

export function persistentVolumeClaim(naming: Naming): Manifest {
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: metadata(naming), spec: claimed };
}

/** What there is of storage in no namespace: an object of each kind. */
export function clusterStorage(naming: Naming): Manifest[] {
  const storage = (kind: string, fields: object): Manifest => ({
    apiVersion: 'storage.k8s.io/v1',
    kind,
    metadata: metadata(naming),
    ...fields,
  });
  const volume = {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: '1Gi' },
    hostPath: { path: '/data' },
  };
  const attachment = {
    attacher: 'disk.example.com',
    nodeName: 'one',
    source: { persistentVolumeName: 'data' },
  };
  return [
    { apiVersion: 'v1', kind: 'PersistentVolume', metadata: metadata(naming), spec: volume },
    storage('StorageClass', { provisioner: 'disk.example.com' }),
    storage('VolumeAttachment', { spec: attachment }),
    storage('CSIDriver', { spec: { attachRequired: false } }),
  ];
}

export function runtimeClass(naming: Naming): Manifest {
  const [overhead, scheduling] = [{ podFixed: { cpu: '10m' } }, { nodeSelector: { runtime: 'kata' } }];
  return {
    apiVersion: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    metadata: metadata(naming),
    handler: 'kata',
    overhead,
    scheduling,
  };
}

const rbac = 'rbac.authorization.k8s.io';

export function role(naming: Naming, ...verbs: string[]): Manifest {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    metadata: metadata(naming),
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs }],
  };
}

export function roleBinding(naming: Naming, roleName: string): Manifest {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: metadata(naming),
    roleRef: { apiGroup: rbac, kind: 'Role', name: roleName },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'ann' }],
  };
}

export function clusterRole(naming: Naming): Manifest {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: metadata(naming),
    rules: [{ nonResourceURLs: ['/logs'], verbs: ['get'] }],
  };
}

export function clusterRoleBinding(naming: Naming, roleName: string): Manifest {
  return {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: metadata(naming),
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: roleName },
    subjects: [{ apiGroup: rbac, kind: 'User', name: 'ann' }],
  };
}

export function signingRequest(naming: Naming, requestPem: string): Manifest {
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: metadata(naming),
    spec: {
      request: Buffer.from(requestPem).toString('base64'),
      signerName: 'example.com/anything',
      usages: ['client auth'],
    },
  };
}
