import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMissingFields, podKind } from '../../../../src/api/index.ts';
import { made } from './pod-examples.ts';

/** What a service of some size asks for, with something from every part of the description. */
const manifest = {
  metadata: {
    name: 'shop-7d9c5b6f4-x2x7q',
    namespace: 'shop',
    labels: { app: 'shop', 'pod-template-hash': '7d9c5b6f4' },
    annotations: { 'prometheus.io/scrape': 'true' },
  },
  spec: {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 60,
    activeDeadlineSeconds: 86400,
    dnsPolicy: 'None',
    dnsConfig: {
      nameservers: ['10.96.0.10', 'fd00::a'],
      searches: ['shop.svc.cluster.local', '_tcp.example.com', '.'],
      options: [{ name: 'ndots', value: '2' }, { name: 'edns0' }],
    },
    nodeSelector: { 'kubernetes.io/os': 'linux' },
    serviceAccountName: 'shop',
    serviceAccount: 'shop',
    automountServiceAccountToken: false,
    shareProcessNamespace: true,
    securityContext: {
      runAsUser: 1000,
      runAsGroup: 3000,
      runAsNonRoot: true,
      fsGroup: 2000,
      fsGroupChangePolicy: 'OnRootMismatch',
      supplementalGroups: [4000],
      supplementalGroupsPolicy: 'Strict',
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
      seccompProfile: { type: 'RuntimeDefault' },
      appArmorProfile: { type: 'RuntimeDefault' },
      seLinuxOptions: { level: 's0:c1,c2' },
    },
    imagePullSecrets: [{ name: 'registry' }],
    hostname: 'shop-0',
    subdomain: 'shop',
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: [
                { key: 'topology.kubernetes.io/zone', operator: 'In', values: ['a', 'b'] },
                { key: 'example.com/cores', operator: 'Gt', values: ['4'] },
              ],
              matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['bad-node'] }],
            },
          ],
        },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 10, preference: { matchExpressions: [{ key: 'example.com/ssd', operator: 'Exists' }] } },
        ],
      },
      podAntiAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          {
            weight: 100,
            podAffinityTerm: {
              labelSelector: { matchLabels: { app: 'shop' } },
              topologyKey: 'kubernetes.io/hostname',
              matchLabelKeys: ['pod-template-hash'],
            },
          },
        ],
      },
    },
    schedulerName: 'default-scheduler',
    tolerations: [
      {
        key: 'node.kubernetes.io/not-ready',
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 300,
      },
      { operator: 'Exists', effect: 'NoSchedule' },
      { key: 'dedicated', operator: 'Equal', value: 'shop' },
    ],
    hostAliases: [{ ip: '127.0.0.1', hostnames: ['local.example.com'] }],
    priorityClassName: 'high',
    priority: 1000,
    preemptionPolicy: 'PreemptLowerPriority',
    readinessGates: [{ conditionType: 'example.com/registered' }],
    runtimeClassName: 'gvisor',
    enableServiceLinks: false,
    overhead: { cpu: '250m', memory: '120Mi' },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'topology.kubernetes.io/zone',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { app: 'shop' } },
        minDomains: 2,
        nodeAffinityPolicy: 'Honor',
        nodeTaintsPolicy: 'Ignore',
        matchLabelKeys: ['pod-template-hash'],
      },
    ],
    setHostnameAsFQDN: false,
    os: { name: 'linux' },
    hostUsers: true,
    resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'one-gpu' }],
    volumes: [
      { name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
      { name: 'scratch', emptyDir: {} },
      {
        name: 'config',
        configMap: { name: 'shop', items: [{ key: 'a', path: 'x/a', mode: 256 }], defaultMode: 420 },
      },
      { name: 'tls', secret: { secretName: 'tls', defaultMode: 256, optional: true } },
      { name: 'data', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'logs', hostPath: { path: '/var/log/shop', type: 'DirectoryOrCreate' } },
      { name: 'share', nfs: { server: 'nfs.example.com', path: '/export', readOnly: true } },
      {
        name: 'about',
        downwardAPI: {
          items: [
            { path: 'labels', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.labels' } },
            {
              path: 'cpu',
              resourceFieldRef: { containerName: 'web', resource: 'limits.cpu', divisor: '1m' },
            },
          ],
          defaultMode: 420,
        },
      },
      {
        name: 'token',
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 3607, audience: 'vault' } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [
                  { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
                ],
              },
            },
            { secret: { name: 'extra', optional: true } },
            { clusterTrustBundle: { signerName: 'example.com/s', labelSelector: {}, path: 'bundle.pem' } },
          ],
        },
      },
      {
        name: 'csi',
        csi: { driver: 'secrets-store.csi.x-k8s.io', readOnly: true, volumeAttributes: { a: 'b' } },
      },
      {
        name: 'own',
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { labels: { app: 'shop' } },
            spec: {
              accessModes: ['ReadWriteOnce'],
              resources: { requests: { storage: '10Gi' } },
              storageClassName: 'fast',
              volumeMode: 'Filesystem',
            },
          },
        },
      },
      { name: 'model', image: { reference: 'registry.example.com/model:v1', pullPolicy: 'IfNotPresent' } },
    ],
    initContainers: [
      {
        name: 'migrate',
        image: 'registry.example.com/shop:2.1',
        command: ['/bin/migrate'],
        resources: { limits: { cpu: '1', memory: '256Mi' }, requests: { cpu: '1', memory: '256Mi' } },
        imagePullPolicy: 'IfNotPresent',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'FallbackToLogsOnError',
      },
      {
        name: 'proxy',
        image:
          'registry.example.com/proxy@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
        restartPolicy: 'Always',
        ports: [{ name: 'admin', containerPort: 15000, protocol: 'TCP' }],
        startupProbe: {
          tcpSocket: { port: 'admin' },
          timeoutSeconds: 1,
          periodSeconds: 2,
          successThreshold: 1,
          failureThreshold: 30,
        },
        resources: {},
        imagePullPolicy: 'IfNotPresent',
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
      },
    ],
    containers: [
      {
        name: 'web',
        image: 'registry.example.com:5000/shop:2.1',
        command: ['/bin/shop'],
        args: ['--port=$(PORT)'],
        workingDir: '/srv',
        ports: [
          { name: 'http', containerPort: 8080, protocol: 'TCP' },
          { name: 'metrics', containerPort: 9090, hostPort: 19090, hostIP: '127.0.0.1', protocol: 'TCP' },
        ],
        envFrom: [
          { prefix: 'SHOP_', configMapRef: { name: 'shop' } },
          { secretRef: { name: 'shop', optional: true } },
        ],
        env: [
          { name: 'PORT', value: '8080' },
          { name: 'NODE', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' } } },
          {
            name: 'HASH',
            valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: "metadata.labels['pod-template-hash']" } },
          },
          { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'shop', key: 'password' } } },
          { name: 'MODE', valueFrom: { configMapKeyRef: { name: 'shop', key: 'mode', optional: true } } },
        ],
        resources: {
          limits: { cpu: '2', memory: '1Gi', 'example.com/device': '1' },
          requests: { cpu: '500m', memory: '512Mi', 'example.com/device': '1' },
          claims: [{ name: 'gpu' }],
        },
        resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'NotRequired' }],
        volumeMounts: [
          { name: 'cache', mountPath: '/cache' },
          { name: 'config', mountPath: '/etc/shop', readOnly: true, recursiveReadOnly: 'IfPossible' },
          { name: 'logs', mountPath: '/log', subPathExpr: '$(NODE)', mountPropagation: 'HostToContainer' },
          { name: 'data', mountPath: '/data', subPath: 'shop' },
        ],
        volumeDevices: [{ name: 'own', devicePath: '/dev/own' }],
        livenessProbe: {
          httpGet: {
            path: '/live',
            port: 'http',
            scheme: 'HTTP',
            httpHeaders: [{ name: 'X-Probe', value: '1' }],
          },
          initialDelaySeconds: 5,
          timeoutSeconds: 2,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
          terminationGracePeriodSeconds: 10,
        },
        readinessProbe: {
          grpc: { port: 9090, service: 'shop' },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 2,
          failureThreshold: 3,
        },
        startupProbe: {
          exec: { command: ['/bin/ready'] },
          timeoutSeconds: 1,
          periodSeconds: 10,
          successThreshold: 1,
          failureThreshold: 3,
        },
        lifecycle: { preStop: { sleep: { seconds: 5 } }, postStart: { exec: { command: ['true'] } } },
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
        securityContext: {
          capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          seccompProfile: { type: 'Localhost', localhostProfile: 'profiles/shop.json' },
          appArmorProfile: { type: 'Localhost', localhostProfile: 'shop' },
        },
        stdin: true,
        tty: true,
      },
    ],
  },
};

test('a large pod in which all is said stays as it is', () => {
  const pod = made(structuredClone(manifest));
  assert.deepEqual(findMissingFields(podKind.root, pod), []);
  assert.deepEqual(podKind.validate(pod, undefined), []);
  assert.deepEqual(pod.spec, manifest.spec);
  assert.deepEqual(pod.metadata, manifest.metadata);
  assert.deepEqual(pod.status, { phase: 'Pending', qosClass: 'Burstable' });
  assert.deepEqual(podKind.warnings(pod, undefined), []);
});

test('what is said for every source of a volume is kept', () => {
  const pod = made(structuredClone(manifest));
  const again = podKind.default(structuredClone(pod));
  assert.deepEqual(again, pod, 'defaulting twice changes nothing');
  assert.deepEqual(
    podKind.validate(structuredClone(pod), pod),
    [],
    'and a write without a change is accepted',
  );
});
