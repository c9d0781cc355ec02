import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerConfig, sandboxConfig } from '../../../../src/agent/containers/index.ts';
import { containerInput, samplePod, sandboxInput } from './sample.ts';

const uid = '7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11';
const podLabels = {
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'shop',
  'io.kubernetes.pod.uid': uid,
};

test('the whole config of a sandbox is what the reference sends', () => {
  const pod = samplePod(
    { terminationGracePeriodSeconds: 30, securityContext: { fsGroup: 2000, supplementalGroups: [7] } },
    {
      ports: [{ containerPort: 80, protocol: 'TCP' }],
      resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { memory: '128Mi' } },
    },
  );
  pod.metadata = {
    ...pod.metadata,
    labels: { app: 'web', 'io.kubernetes.pod.uid': 'of-another' },
    annotations: { note: 'own' },
  };
  const annotations = {
    'kubernetes.io/config.source': 'api',
    'kubernetes.io/config.seen': '2026-11-22T13:49:50.055477856Z',
  };
  const { config, warnings } = sandboxConfig(
    sandboxInput(pod, { attempt: 2, cgroupParent: `/kubepods/burstable/pod${uid}`, annotations }),
  );
  assert.deepEqual(warnings, []);
  assert.deepEqual(config, {
    metadata: { name: 'web', namespace: 'shop', uid, attempt: 2 },
    hostname: 'web',
    logDirectory: `/var/log/pods/shop_web_${uid}`,
    dnsConfig: {
      servers: ['10.96.0.10'],
      searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.org'],
      options: ['ndots:5'],
    },
    portMappings: [{ protocol: 0, containerPort: 80, hostPort: 0, hostIp: '' }],
    labels: { app: 'web', ...podLabels },
    annotations: { note: 'own', ...annotations },
    linux: {
      cgroupParent: `/kubepods/burstable/pod${uid}`,
      securityContext: {
        namespaceOptions: { network: 0, pid: 1, ipc: 0, usernsOptions: { mode: 2, uids: [], gids: [] } },
        supplementalGroups: [2000n, 7n],
        supplementalGroupsPolicy: 0,
        privileged: false,
        seccomp: { profileType: 0, localhostRef: '' },
      },
      sysctls: {},
      overhead: {},
      resources: { cpuShares: 256n, memoryLimitInBytes: 134217728n, cpuQuota: 0n, cpuPeriod: 100000n },
    },
  });
});

test('the whole config of a container is what the reference sends', () => {
  const pod = samplePod(
    { terminationGracePeriodSeconds: 30 },
    {
      command: ['sh', '-c', 'echo $(GREETING)'],
      terminationMessagePath: '/dev/termination-log',
      terminationMessagePolicy: 'File',
      resources: { requests: { cpu: '250m', memory: '2Gi' }, limits: { cpu: '500m', memory: '2Gi' } },
    },
  );
  const config = containerConfig(
    containerInput(pod, {
      attempt: 3,
      restartCount: 3,
      environment: [{ name: 'GREETING', value: 'hello' }],
      hostsFile: `/pods/${uid}/etc-hosts`,
      messageFile: `/pods/${uid}/containers/c/1a2b`,
    }),
  );
  const own = {
    readonly: false,
    selinuxRelabel: true,
    propagation: 0,
    recursiveReadOnly: false,
    uidMappings: [],
    gidMappings: [],
  };
  assert.deepEqual(config, {
    metadata: { name: 'c', attempt: 3 },
    image: { image: 'sha256:1111', userSpecifiedImage: 'localhost/lab/busybox:1' },
    command: ['sh', '-c', 'echo hello'],
    args: [],
    workingDir: '',
    envs: [{ key: 'GREETING', value: Buffer.from('hello') }],
    mounts: [
      { ...own, containerPath: '/etc/hosts', hostPath: `/pods/${uid}/etc-hosts` },
      { ...own, containerPath: '/dev/termination-log', hostPath: `/pods/${uid}/containers/c/1a2b` },
    ],
    devices: [],
    cdiDevices: [],
    labels: { ...podLabels, 'io.kubernetes.container.name': 'c' },
    annotations: {
      'io.kubernetes.container.hash': 'aa834e24',
      'io.kubernetes.container.restartCount': '3',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    },
    logPath: 'c/3.log',
    stdin: false,
    stdinOnce: false,
    tty: false,
    stopSignal: 0,
    linux: {
      resources: {
        cpuShares: 256n,
        memoryLimitInBytes: 2147483648n,
        cpuQuota: 50000n,
        cpuPeriod: 100000n,
        oomScoreAdj: 750n,
        hugepageLimits: [],
      },
      securityContext: {
        runAsUser: { value: 0n },
        runAsUsername: '',
        privileged: false,
        readonlyRootfs: false,
        noNewPrivs: false,
        namespaceOptions: { network: 0, pid: 1, ipc: 0, usernsOptions: { mode: 2, uids: [], gids: [] } },
        supplementalGroups: [],
        supplementalGroupsPolicy: 0,
        maskedPaths: [
          '/proc/asound',
          '/proc/acpi',
          '/proc/interrupts',
          '/proc/kcore',
          '/proc/keys',
          '/proc/latency_stats',
          '/proc/timer_list',
          '/proc/timer_stats',
          '/proc/sched_debug',
          '/proc/scsi',
          '/sys/firmware',
          '/sys/devices/virtual/powercap',
        ],
        readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
        seccomp: { profileType: 1, localhostRef: '' },
      },
    },
  });
});
