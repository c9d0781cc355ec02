import type { ApiObject, Kind } from '../../../../../src/api/index.ts';
import { groupName, servedKinds } from '../../../../../src/api/index.ts';
import { createAuthority } from '../../../../../src/base/x509/index.ts';
import { lease, signingRequest } from '../../support/index.ts';

type Sample = ApiObject & Record<string, unknown>;

const time = '2024-01-01T00:00:00.000001Z';
const about = { kind: 'Pod', namespace: 'default', name: 'web', apiVersion: 'v1' };
const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: 'view' });
const subjects = [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'readers' }];
const rules = [{ apiGroups: ['', 'apps'], resources: ['pods'], verbs: ['get', 'list'] }];

const request = await signingRequest('node');
const authority = await createAuthority('samples', 3600_000, Date.now());

const labels = { app: 'web' };
const selector = { matchLabels: labels };
const containers = [{ name: 'web', image: 'registry.k8s.io/pause:3.10' }];
const template = { metadata: { labels }, spec: { containers } };
const claim = { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu.example.com' } }] } };
const requests = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE'],
  resources: ['pods', 'pods/*'],
};
const matchConstraints = { resourceRules: [{ ...requests, resourceNames: ['web'] }] };
const webhook = {
  name: 'a.hooks.example.com',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  rules: [requests],
  clientConfig: { service: { namespace: 'default', name: 'hook', path: '/check' }, caBundle: 'AAEC' },
};
const jobTemplate = { spec: { restartPolicy: 'Never', containers } };

/** Something valid of each kind, with fields that encodings treat differently. */
const samples: Readonly<Record<string, () => object>> = {
  Lease: () => ({ spec: { ...lease('x').spec, renewTime: time, leaseTransitions: 0 } }),
  CertificateSigningRequest: () => ({ spec: { ...request.spec, signerName: 'example.com/nobody' } }),
  ClusterTrustBundle: () => ({ spec: { trustBundle: authority.cert } }),
  ConfigMap: () => ({
    data: { yes: 'no', script: '#!/bin/sh\necho "hi"\n', empty: '', number: '012' },
    binaryData: { bytes: 'AAEC/w==' },
  }),
  Secret: () => ({ type: 'example.com/any', data: { password: 'cGFzcw==' } }),
  ServiceAccount: () => ({ automountServiceAccountToken: false }),
  Node: () => ({ spec: { podCIDR: '10.0.0.0/24', taints: [{ key: 'a', effect: 'NoSchedule' }] } }),
  Pod: () => ({
    spec: {
      terminationGracePeriodSeconds: 0,
      containers: [
        {
          name: 'web',
          image: 'registry.k8s.io/pause:3.10',
          args: ['--yes', 'on'],
          resources: { limits: { memory: '64Mi', cpu: '0.5' } },
          livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 7 },
        },
      ],
      volumes: [{ name: 'tmp', emptyDir: {} }],
    },
  }),
  Event: () => ({ involvedObject: about, reason: 'Started', message: 'it: runs', count: 1 }),
  'events/Event': () => ({
    regarding: about,
    reason: 'Started',
    note: 'it: runs',
    eventTime: time,
    action: 'Start',
    type: 'Normal',
    reportingController: 'example.com/test',
    reportingInstance: 'test-1',
  }),
  ClusterRole: () => ({ rules: [...rules, { nonResourceURLs: ['/healthz', '/x/*'], verbs: ['get'] }] }),
  Role: () => ({ rules }),
  ClusterRoleBinding: () => ({ roleRef: roleRef('ClusterRole'), subjects }),
  RoleBinding: () => ({ roleRef: roleRef('Role'), subjects }),
  Service: () => ({
    spec: { clusterIP: 'None', selector: { app: 'web' }, ports: [{ port: 80, targetPort: 'http' }] },
  }),
  PersistentVolume: () => ({
    spec: {
      capacity: { storage: '1Gi' },
      accessModes: ['ReadWriteOnce'],
      claimRef: { namespace: 'default', name: 'data' },
      nfs: { server: 'files.example.com', path: '/exports' },
    },
  }),
  PersistentVolumeClaim: () => ({
    spec: {
      accessModes: ['ReadWriteMany'],
      storageClassName: '',
      resources: { requests: { storage: '5Gi' } },
    },
  }),
  StorageClass: () => ({
    provisioner: 'disk.example.com',
    parameters: { type: 'fast' },
    allowVolumeExpansion: false,
    allowedTopologies: [{ matchLabelExpressions: [{ key: 'zone', values: ['a', 'b'] }] }],
  }),
  VolumeAttachment: () => ({
    spec: { attacher: 'disk.example.com', nodeName: 'one', source: { persistentVolumeName: 'data' } },
  }),
  CSIDriver: () => ({ spec: { attachRequired: false, tokenRequests: [{ audience: '' }] } }),
  RuntimeClass: () => ({ handler: 'runc' }),
  ReplicaSet: () => ({ spec: { replicas: 0, selector, template } }),
  Deployment: () => ({ spec: { selector, template, strategy: { rollingUpdate: { maxSurge: '10%' } } } }),
  StatefulSet: () => ({
    spec: {
      selector,
      template,
      serviceName: 'web',
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
        },
      ],
    },
  }),
  DaemonSet: () => ({ spec: { selector, template, updateStrategy: { type: 'OnDelete' } } }),
  ControllerRevision: () => ({ revision: 3, data: { spec: { template: { a: [1, 'two'] } } } }),
  ReplicationController: () => ({ spec: { template } }),
  PodTemplate: () => ({ template }),
  Job: () => ({
    spec: {
      manualSelector: true,
      selector,
      template: { metadata: { labels }, spec: { restartPolicy: 'OnFailure', containers } },
    },
  }),
  CronJob: () => ({ spec: { schedule: '*/5 * * * *', jobTemplate: { spec: { template: jobTemplate } } } }),
  PodDisruptionBudget: () => ({ spec: { minAvailable: '50%', selector } }),
  PriorityClass: () => ({ value: -10, description: 'not: urgent' }),
  ResourceQuota: () => ({ spec: { hard: { pods: '10', 'requests.cpu': '0.5' } } }),
  LimitRange: () => ({ spec: { limits: [{ type: 'Container', max: { cpu: '2' } }] } }),
  Endpoints: () => ({
    subsets: [{ addresses: [{ ip: '10.1.2.3', nodeName: 'one' }], ports: [{ name: 'http', port: 80 }] }],
  }),
  EndpointSlice: () => ({
    addressType: 'IPv6',
    endpoints: [{ addresses: ['fd00::1'], conditions: { ready: false } }],
    ports: [{ name: '', port: 80 }],
  }),
  CSIStorageCapacity: () => ({ storageClassName: 'fast', capacity: '1Ti', nodeTopology: selector }),
  VolumeAttributesClass: () => ({ driverName: 'disk.example.com', parameters: { iops: '3000' } }),
  HorizontalPodAutoscaler: () => ({
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
  }),
  Ingress: () => ({
    spec: {
      rules: [
        {
          host: '*.example.com',
          http: {
            paths: [
              { path: '/a', pathType: 'Prefix', backend: { service: { name: 'web', port: { number: 80 } } } },
            ],
          },
        },
      ],
    },
  }),
  IngressClass: () => ({ spec: { controller: 'example.com/proxy' } }),
  NetworkPolicy: () => ({
    spec: {
      podSelector: {},
      ingress: [
        { ports: [{ port: 'http' }], from: [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }] },
      ],
    },
  }),
  ServiceCIDR: () => ({ spec: { cidrs: ['10.9.0.0/16', 'fd00::/108'] } }),
  IPAddress: () => ({ spec: { parentRef: { resource: 'services', namespace: 'default', name: 'web' } } }),
  ResourceClaim: () => ({ spec: claim }),
  ResourceClaimTemplate: () => ({ spec: { spec: claim } }),
  ResourceSlice: () => ({
    spec: {
      driver: 'gpu.example.com',
      nodeName: 'one',
      pool: { name: 'one', resourceSliceCount: 1 },
      devices: [{ name: 'gpu-0', attributes: { cores: { int: 0 } }, capacity: { memory: { value: '8Gi' } } }],
    },
  }),
  DeviceClass: () => ({ spec: { selectors: [{ cel: { expression: 'true' } }] } }),
  ValidatingWebhookConfiguration: () => ({ webhooks: [webhook] }),
  MutatingWebhookConfiguration: () => ({ webhooks: [{ ...webhook, reinvocationPolicy: 'IfNeeded' }] }),
  ValidatingAdmissionPolicy: () => ({
    spec: { matchConstraints, validations: [{ expression: 'true', reason: 'Invalid' }] },
  }),
  ValidatingAdmissionPolicyBinding: () => ({
    spec: { policyName: 'a', validationActions: ['Deny', 'Audit'] },
  }),
  MutatingAdmissionPolicy: () => ({
    spec: {
      matchConstraints,
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[]' } }],
    },
  }),
  MutatingAdmissionPolicyBinding: () => ({
    spec: {
      policyName: 'a',
      paramRef: { name: 'b', parameterNotFoundAction: 'Deny' },
      matchResources: matchConstraints,
    },
  }),
  FlowSchema: () => ({
    spec: {
      priorityLevelConfiguration: { name: 'low' },
      rules: [
        {
          subjects: [{ kind: 'ServiceAccount', serviceAccount: { namespace: 'default', name: '*' } }],
          resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['pods'], clusterScope: true }],
        },
      ],
    },
  }),
  PriorityLevelConfiguration: () => ({
    spec: {
      type: 'Limited',
      limited: {
        nominalConcurrencyShares: 0,
        limitResponse: { type: 'Queue', queuing: { queues: 8, handSize: 2 } },
      },
    },
  }),
  CSINode: () => ({ spec: { drivers: [{ name: 'a.example.com', nodeID: 'n', allocatable: { count: 0 } }] } }),
};

/** The kinds whose objects are stored and may have any name: not those whose name says what they are. */
export const storedKinds = servedKinds.filter(
  ({ virtual, kind }) => !virtual && kind !== 'IPAddress' && kind !== 'APIService',
);

export function sampleOf(kind: Kind, name: string): Sample {
  const make = samples[`${kind.group}/${kind.kind}`] ?? samples[kind.kind] ?? (() => ({}));
  const namespace = kind.namespaced ? { namespace: 'default' } : {};
  return { metadata: { name, labels: { sample: 'yes' }, ...namespace }, ...make() };
}

export function collectionOf(kind: Kind): string {
  const group = groupName(kind.group, 'k8s.io');
  const base = group === '' ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
  return kind.namespaced ? `${base}/namespaces/default/${kind.resource}` : `${base}/${kind.resource}`;
}
