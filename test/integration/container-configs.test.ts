/** What a real containerd and the kernel make of the sandboxes, containers and cgroups that are described here. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { ContainerInput, NodeSettings } from '../../src/agent/containers/index.ts';
import {
  containerConfig,
  hostsFile,
  resolveEnvironment,
  sandboxConfig,
} from '../../src/agent/containers/index.ts';
import { openCgroupTree, PodCgroups, readNodeCgroups } from '../../src/agent/resources/index.ts';
import { ImageService, RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../src/api/index.ts';
import { systemClock } from '../../src/base/index.ts';
import { cgroupName, waitFor } from '../support/index.ts';
import { givenWithoutApi } from '../support/without-api.ts';
import type { LabContainerd } from './lab/index.ts';
import { idle, image, startContainerd } from './lab/index.ts';

type Spec = NonNullable<Pod['spec']>;
type ContainerSpec = NonNullable<Spec['containers']>[number];

const cpuQuota = { isEnforced: true, periodUs: 100_000 };
const noDevices = { devices: [], mounts: [], environment: [], annotations: {}, cdiDevices: [] };

const node: NodeSettings = {
  nodeName: 'node-1',
  hostIps: ['192.0.2.10'],
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  hostDns: { servers: ['192.0.2.53'], searches: ['example.org'], options: [] },
  defaultSysctls: { 'net.ipv4.ip_unprivileged_port_start': '1' },
  cpuQuota,
  capacity: { cpu: '4', memory: '8Gi' },
  allocatable: { cpu: '4', memory: '8Gi' },
  cgroups: readNodeCgroups('/', false),
};

describe('containers as they are described, with a real containerd', () => {
  let runtime: LabContainerd;
  let groups: PodCgroups;
  let root: string;
  const tree = openCgroupTree('/sys/fs/cgroup');
  const calls = RuntimeService.method;

  before(async () => {
    runtime = await startContainerd({ cni: true });
    root = cgroupName(runtime.folder);
    const naming = { driver: 'cgroupfs' as const, root: `/${root}` };
    groups = new PodCgroups({ tree, naming, limits: { cpuQuota, maxPids: 200 }, clock: systemClock });
    await groups.prepare({ cpuMillis: 4000 });
  });
  after(() => runtime[Symbol.asyncDispose]());

  function podOf(spec: Partial<Spec>, container: Partial<ContainerSpec>): Pod {
    const { command } = idle();
    const marker = process.env['NODEWARD_TEST_FILE'];
    const env = [
      ...(container.env ?? []),
      ...(marker === undefined ? [] : [{ name: 'NODEWARD_TEST_FILE', value: marker }]),
    ];
    const containers = [{ name: 'c', image, command: [...command], ...container, env }];
    return {
      metadata: { name: 'web', namespace: 'shop', uid: crypto.randomUUID(), labels: { app: 'web' } },
      spec: { terminationGracePeriodSeconds: 1, containers, ...spec },
    };
  }

  /** Creates the group, the sandbox and the container `c`, and starts it. */
  async function run(pod: Pod) {
    const uid = pod.metadata?.uid ?? '';
    const logFolder = join(runtime.folder, 'logs', uid);
    await mkdir(join(logFolder, 'c'), { recursive: true });
    await groups.make(pod);
    const cgroupParent = groups.parentOf(pod);
    const { config } = sandboxConfig({ pod, attempt: 0, logFolder, cgroupParent, userIds: undefined, node });
    const { podSandboxId } = await runtime.cri.call(calls.runPodSandbox, { config });
    const { status } = await runtime.cri.call(calls.podSandboxStatus, { podSandboxId });
    const podIps = [status?.network?.ip ?? ''].filter((ip) => ip !== '');
    const own = containerConfig(await inputOf(pod, podIps));
    const request = { podSandboxId, config: own, sandboxConfig: config };
    const { containerId } = await runtime.cri.call(calls.createContainer, request);
    await runtime.cri.call(calls.startContainer, { containerId });
    return {
      podIps,
      logFolder,
      message: messageFileOf(uid),
      status: async () => (await runtime.cri.call(calls.containerStatus, { containerId })).status,
      exec: (...command: string[]) => exec(containerId, command),
      remove: async () => {
        await runtime.cri.call(calls.stopPodSandbox, { podSandboxId });
        await runtime.cri.call(calls.removePodSandbox, { podSandboxId });
        await groups.remove(uid);
      },
    };
  }

  const messageFileOf = (uid: string) => join(runtime.folder, 'pods', uid, 'message');

  async function inputOf(pod: Pod, podIps: readonly string[]): Promise<ContainerInput> {
    const messageFile = messageFileOf(pod.metadata?.uid ?? '');
    const ownHosts = join(dirname(messageFile), 'etc-hosts');
    await mkdir(dirname(messageFile), { recursive: true });
    await writeFile(messageFile, '', { mode: 0o666 });
    await writeFile(
      ownHosts,
      hostsFile(pod, podIps, { hostFileText: '', clusterDomain: node.clusterDomain }),
    );
    const found = await runtime.cri.call(ImageService.method.imageStatus, { image: { image } });
    return {
      pod,
      container: 'c',
      attempt: 0,
      restartCount: 0,
      image: { id: found.image?.id ?? '', user: {} },
      environment: await resolveEnvironment(pod, 'c', {
        ...givenWithoutApi,
        ...{ facts: { node, podIps }, services: { state: 'present', object: [] }, isStatic: true },
        readFile: async () => '',
      }),
      mounts: [],
      hostsFile: ownHosts,
      messageFile,
      devices: noDevices,
      seccomp: { profileType: 0, localhostRef: '' },
      appArmor: undefined,
      volumeGroups: [],
      userIds: undefined,
      targetId: undefined,
      node,
    };
  }

  async function exec(containerId: string, cmd: string[]): Promise<string> {
    const call = { containerId, cmd, timeout: 20n };
    const { stdout, stderr, exitCode } = await runtime.cri.call(calls.execSync, call);
    assert.equal(exitCode, 0, Buffer.from(stderr).toString());
    return Buffer.from(stdout).toString().trim();
  }

  test('names, addresses, resolver, environment and the message of a pod with a network of its own', async () => {
    const pod = podOf(
      { hostname: 'db-0', subdomain: 'db', hostAliases: [{ ip: '10.0.0.9', hostnames: ['alias'] }] },
      {
        env: [
          { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          { name: 'GREETING', value: 'hello $(NAME) $$(NAME)' },
        ],
        command: [
          '/bin/sh',
          '-c',
          'echo "$0" > /dev/termination-log; echo out; exec sleep 600',
          '$(GREETING)',
        ],
      },
    );
    const made = await run(pod);
    assert.equal(made.podIps.length, 1);
    assert.equal(await made.exec('hostname'), 'db-0');
    assert.equal(await made.exec('sh', '-c', 'echo $NAME $IP'), `web ${made.podIps[0]}`);
    const hosts = await made.exec('cat', '/etc/hosts');
    assert.match(hosts, new RegExp(`^${made.podIps[0]}\tdb-0.db.shop.svc.cluster.local\tdb-0$`, 'm'));
    assert.match(hosts, /^10.0.0.9\talias$/m);
    assert.equal(
      await made.exec('cat', '/etc/resolv.conf'),
      'search shop.svc.cluster.local svc.cluster.local cluster.local example.org\nnameserver 10.96.0.10\noptions ndots:5',
    );
    assert.equal(await made.exec('cat', '/proc/sys/net/ipv4/ip_unprivileged_port_start'), '1');
    await waitFor('its message', async () => (await readFile(made.message, 'utf8')) !== '');
    assert.equal(await readFile(made.message, 'utf8'), 'hello web $(NAME)\n');
    await waitFor('the log', async () =>
      (await readFile(join(made.logFolder, 'c/0.log'), 'utf8')).includes(' stdout F out\n'),
    );
    const status = await made.status();
    assert.equal(status?.metadata?.name, 'c');
    assert.equal(status?.labels['io.kubernetes.pod.uid'], pod.metadata?.uid);
    assert.equal(status?.annotations['io.kubernetes.container.hash'], 'aa834e24');
    assert.equal(status?.image?.image, image);
    await made.remove();
  });

  test('rights: user, groups, capabilities, a root that cannot be written, hidden files', async () => {
    const pod = podOf(
      {
        hostNetwork: true,
        securityContext: { runAsUser: 1000, runAsGroup: 3000, fsGroup: 2000, supplementalGroups: [7] },
      },
      {
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
      },
    );
    const made = await run(pod);
    const status = await made.exec('cat', '/proc/self/status');
    assert.match(status, /^Uid:\t1000\b/m);
    assert.match(status, /^Gid:\t3000\b/m);
    assert.match(status, /^Groups:\t(?=.*\b7\b)(?=.*\b2000\b)/m);
    assert.match(status, /^CapBnd:\t0+$/m);
    assert.match(status, /^NoNewPrivs:\t1$/m);
    assert.match(status, /^Seccomp:\t2$/m);
    assert.equal(await made.exec('sh', '-c', 'touch /x 2>/dev/null || echo refused'), 'refused');
    assert.equal(
      await made.exec('sh', '-c', 'cat /proc/interrupts /proc/keys /proc/timer_list 2>/dev/null | wc -c'),
      '0',
    );
    assert.deepEqual((await made.status())?.user?.linux?.uid, 1000n);
    await made.remove();
  });

  test('limits: of the container, and of the pod around it', async () => {
    const resources = { requests: { cpu: '250m', memory: '32Mi' }, limits: { cpu: '500m', memory: '64Mi' } };
    const pod = podOf({ hostNetwork: true, overhead: { memory: '8Mi' } }, { resources });
    const made = await run(pod);
    const folders = tree.roots.map((each) =>
      join(each, root, 'kubepods/burstable', `pod${pod.metadata?.uid}`),
    );
    const read = async (file: string): Promise<string | undefined> => {
      const found = folders.map((folder) => join(folder, file)).find((path) => existsSync(path));
      return found === undefined ? undefined : (await readFile(found, 'utf8')).trim();
    };
    assert.equal(
      await read(tree.version === 1 ? 'memory.limit_in_bytes' : 'memory.max'),
      String(72 * 2 ** 20),
    );
    assert.equal(await read('pids.max'), '200');
    assert.equal(groups.has(pod), true);
    const linux = (await made.status())?.resources?.linux;
    assert.deepEqual(
      [linux?.cpuShares, linux?.cpuQuota, linux?.cpuPeriod, linux?.memoryLimitInBytes],
      [256n, 50_000n, 100_000n, 67_108_864n],
    );
    await made.remove();
    assert.deepEqual(
      folders.filter((folder) => existsSync(folder)),
      [],
    );
    assert.equal(groups.has(pod), false);
  });

  test('all of /proc, and processes that the containers of the pod share', async () => {
    const pod = podOf(
      { hostNetwork: true, shareProcessNamespace: true },
      { securityContext: { procMount: 'Unmasked' } },
    );
    const made = await run(pod);
    assert.notEqual(await made.exec('sh', '-c', 'cat /proc/interrupts | wc -c'), '0');
    assert.notEqual(await made.exec('sh', '-c', 'echo $$'), '1');
    await made.remove();
  });
});
