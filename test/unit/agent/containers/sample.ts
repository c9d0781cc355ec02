import type { ContainerInput, NodeSettings, SandboxInput } from '../../../../src/agent/containers/index.ts';
import type { Pod } from '../../../../src/api/index.ts';

export const node: NodeSettings = {
  nodeName: 'node-1',
  hostIps: ['192.0.2.10', '2001:db8::10'],
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: ['192.0.2.53'], searches: ['example.org'], options: ['timeout:2'] },
  defaultSysctls: {},
  cpuQuota: { isEnforced: true, periodUs: 100_000 },
  capacity: { cpu: '4', memory: '8Gi' },
  allocatable: { cpu: '3800m', memory: '7Gi', 'ephemeral-storage': '40Gi' },
};

export type Spec = NonNullable<Pod['spec']>;
export type ContainerSpec = NonNullable<Spec['containers']>[number];

/** A pod with one container `c`, which `container` changes, and whose spec `spec` changes. */
export function samplePod(spec: Partial<Spec> = {}, container: Partial<ContainerSpec> = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: '7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11' },
    spec: {
      containers: [{ name: 'c', image: 'localhost/lab/busybox:1', ...container }],
      ...spec,
    },
  };
}

export function sandboxInput(pod: Pod, changes: Partial<SandboxInput> = {}): SandboxInput {
  return {
    pod,
    attempt: 0,
    logFolder: '/var/log/pods/shop_web_7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11',
    cgroupParent: '/kubepods/besteffort/pod7f1c5c1e-7f70-4d5f-9d0e-0c8f8f0f2a11',
    userIds: undefined,
    node,
    ...changes,
  };
}

export function containerInput(pod: Pod, changes: Partial<ContainerInput> = {}): ContainerInput {
  return {
    pod,
    container: 'c',
    attempt: 0,
    restartCount: 0,
    image: { id: 'sha256:1111', user: {} },
    environment: [],
    mounts: [],
    hostsFile: undefined,
    messageFile: undefined,
    devices: { devices: [], mounts: [], environment: [], annotations: {}, cdiDevices: [] },
    seccomp: { profileType: 1, localhostRef: '' },
    appArmor: undefined,
    volumeGroups: [],
    userIds: undefined,
    targetId: undefined,
    node,
    ...changes,
  };
}
