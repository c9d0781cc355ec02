/**
 * A node that changes hands between this agent and the reference's. No program of the reference is at hand: what it makes is
 * made here through CRI as it makes it, and what it reads of ours is looked at.
 */
import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ImageService, RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../src/api/index.ts';
import { podKind } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { image } from './lab/index.ts';
import type { PodNode, PodSpec } from './pods/index.ts';
import { containerOf, isRunningAndReady, script, sleeper, startPodNode, uidOf } from './pods/index.ts';
import { inRuntime } from './pods/model/index.ts';

before(ensureBuilt);

/** Of a container `c` with the lab's image, as a program of the reference (1.36.2) wrote it. */
const hash = 'aa834e24';
const restarts = 2;

let lab: PodNode;
before(async () => {
  const logs = 'containerLogMaxSize: 4Ki\ncontainerLogMonitorInterval: 3s\n';
  lab = await startPodNode({ config: `${logs}crashLoopBackOff: { maxContainerRestartPeriod: 1s }\n` });
});
after(() => lab?.[Symbol.asyncDispose]());

/** Talks, and ends with its last words when it is told to by a file. */
const talking = `trap 'exit 0' TERM; echo kept >> /data/notes
  until [ -e /data/end ]; do echo 0123456789012345678901234567890123456789; sleep 0.05; done
  rm /data/end; echo 'last words' > /dev/termination-log; exit 3`;
const spec: PodSpec = {
  containers: [script('c', talking, { volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
  volumes: [{ name: 'data', emptyDir: {} }],
  terminationGracePeriodSeconds: 2,
};

interface Handed {
  readonly name: string;
  readonly uid: string;
  readonly source: 'api' | 'file';
}

/** Makes sandbox, container and files of a pod that has been restarted twice; returns the id of the container. */
async function makeAsReference({ name, uid, source }: Handed): Promise<string> {
  const { cri } = lab.node.containerd;
  const folder = join(lab.rootDir, 'pods', uid);
  const files = {
    data: join(folder, 'volumes/kubernetes.io~empty-dir/data'),
    words: join(folder, 'containers/c/3f2a9c01'), // a random number of eight digits
    hosts: join(folder, 'etc-hosts'),
  };
  await mkdir(files.data, { recursive: true, mode: 0o777 });
  await mkdir(join(files.words, '..'), { recursive: true });
  await writeFile(files.words, '');
  await chmod(files.words, 0o666);
  await writeFile(files.hosts, '# Kubernetes-managed hosts file.\n');
  const labels = podLabels(name, uid);
  const logDirectory = `/var/log/pods/default_${name}_${uid}`;
  await mkdir(join(lab.node.logFolder, 'pods', `default_${name}_${uid}`, 'c'), { recursive: true });
  const namespaceOptions = { pid: 1 };
  const sandboxConfig = {
    metadata: { name, namespace: 'default', uid, attempt: 0 },
    hostname: name,
    logDirectory,
    labels,
    annotations: {
      'kubernetes.io/config.source': source,
      'kubernetes.io/config.seen': '2026-01-01T00:00:00.000000000Z',
    },
    linux: {
      cgroupParent: `/${lab.node.cgroup}/kubepods/besteffort/pod${uid}`,
      securityContext: { namespaceOptions, seccomp: { profileType: 0 } },
    },
  };
  const { podSandboxId } = await cri.call(RuntimeService.method.runPodSandbox, { config: sandboxConfig });
  const { image: found } = await cri.call(ImageService.method.imageStatus, { image: { image } });
  const config = {
    metadata: { name: 'c', attempt: restarts },
    image: { image: found?.id ?? '', userSpecifiedImage: image },
    command: ['/bin/sh', '-c', talking],
    labels: { ...labels, 'io.kubernetes.container.name': 'c' },
    annotations: {
      'io.kubernetes.container.hash': hash,
      'io.kubernetes.container.restartCount': String(restarts),
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '2',
    },
    mounts: [
      { containerPath: '/data', hostPath: files.data },
      { containerPath: '/etc/hosts', hostPath: files.hosts },
      { containerPath: '/dev/termination-log', hostPath: files.words },
    ],
    logPath: `c/${restarts}.log`,
    linux: { securityContext: { namespaceOptions } },
  };
  const { containerId } = await cri.call(RuntimeService.method.createContainer, {
    podSandboxId,
    sandboxConfig,
    config,
  });
  await cri.call(RuntimeService.method.startContainer, { containerId });
  return containerId;
}

function podLabels(name: string, uid: string): Record<string, string> {
  return {
    'io.kubernetes.pod.name': name,
    'io.kubernetes.pod.namespace': 'default',
    'io.kubernetes.pod.uid': uid,
  };
}

const pods = () => lab.pods.current;
/** The pod, or its mirror. */
const until = (what: string, name: string, fits: (pod: Pod) => boolean) =>
  waitFor(`${name} ${what}`, () => pods().find((pod) => pod.metadata?.name === name && fits(pod)), {
    timeoutMs: 60_000,
  });
const logsOf = (handed: Handed) =>
  readdir(join(lab.node.logFolder, 'pods', `default_${handed.name}_${handed.uid}`, 'c'));
const idOf = (pod: Pod) => containerOf(pod, 'c')?.containerID?.replace('containerd://', '');

/** It goes on as it was, is restarted when it ends, and ends cleanly. */
async function checkAdopted(handed: Handed, id: string, end: () => Promise<void>): Promise<void> {
  const { name, uid } = handed;
  const taken = await until('to be taken over', name, isRunningAndReady);
  assert.equal(idOf(taken), id);
  assert.equal(containerOf(taken, 'c')?.restartCount, restarts);
  const before = await inRuntime(lab.node.containerd.cri, uid);
  assert.equal(before.sandboxes.length + before.containers.length, 2);
  await waitFor('its log to be rotated', async () =>
    (await logsOf(handed)).some((file) => /^2\.log\.\d/.test(file)),
  );

  const data = join(lab.rootDir, 'pods', uid, 'volumes/kubernetes.io~empty-dir/data');
  await writeFile(join(data, 'end'), '');
  const again = await until(
    'to be started again',
    name,
    (pod) => containerOf(pod, 'c')?.restartCount === restarts + 1 && isRunningAndReady(pod),
  );
  const { terminated } = containerOf(again, 'c')?.lastState ?? {};
  assert.deepEqual([terminated?.exitCode, terminated?.message], [3, 'last words\n']);
  assert.equal(again.status?.podIP, taken.status?.podIP);
  await waitFor('its note', async () => (await readFile(join(data, 'notes'), 'utf8')) === 'kept\nkept\n');
  assert.ok((await logsOf(handed)).includes(`${restarts + 1}.log`));

  await end();
  await waitFor('nothing to be left of it', async () => {
    const { sandboxes, containers } = await inRuntime(lab.node.containerd.cri, uid);
    const folders = await readdir(join(lab.rootDir, 'pods'));
    return sandboxes.length + containers.length === 0 && !folders.includes(uid);
  });
}

describe('what the reference made', () => {
  test('of a pod of the API goes on in its container, and ends as any other', async () => {
    // without a node it is nobody's yet, and no scheduler here goes by that name
    const metadata = { name: 'handed', namespace: 'default' };
    const made = await lab.api.create(podKind, {
      metadata,
      spec: { automountServiceAccountToken: false, schedulerName: 'nobody', ...spec },
    });
    const handed: Handed = { name: 'handed', uid: uidOf(made), source: 'api' };
    const id = await makeAsReference(handed);
    const target = { apiVersion: 'v1', kind: 'Node', name: lab.name };
    const binding = JSON.stringify({ apiVersion: 'v1', kind: 'Binding', metadata, target });
    await lab.kubectl.run(['create', '--raw', '/api/v1/namespaces/default/pods/handed/binding', '-f', '-'], {
      input: binding,
    });
    await checkAdopted(handed, id, () => lab.delete('handed'));
  });

  test('of a manifest that names its uid goes on in its container, and ends with the manifest', async () => {
    const handed: Handed = {
      name: 'handed-lab',
      uid: '1a2b3c4d-0000-4000-8000-0123456789ab',
      source: 'file',
    };
    const id = await makeAsReference(handed);
    const manifest = join(lab.manifests, 'handed.json');
    const metadata = { name: 'handed', namespace: 'default', uid: handed.uid };
    await writeFile(manifest, JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }));
    await checkAdopted(handed, id, () => rm(manifest));
  });
});

describe('what is made here', () => {
  test('carries all that the reference reads of sandboxes, containers and files', async () => {
    const preStop = { exec: { command: ['true'] } };
    const more = {
      lifecycle: { preStop },
      ports: [{ name: 'web', containerPort: 80 }],
      terminationMessagePath: '/tmp/words',
      terminationMessagePolicy: 'FallbackToLogsOnError',
    };
    const metadata = { labels: { app: 'web' }, annotations: { note: 'mine' } };
    const made = await lab.run('given', { ...spec, containers: [sleeper('c', more)] }, metadata);
    const pod = await until('to run', 'given', isRunningAndReady);
    const uid = uidOf(made);
    const { cri } = lab.node.containerd;
    const { sandboxes, containers } = await inRuntime(cri, uid);
    const [sandbox, container] = [sandboxes[0], containers[0]];
    assert.ok(sandbox !== undefined && container !== undefined);
    assert.partialDeepStrictEqual(sandbox.metadata, {
      name: 'given',
      namespace: 'default',
      uid,
      attempt: 0,
    });
    assert.deepEqual(sandbox.labels, { app: 'web', ...podLabels('given', uid) });
    const {
      'kubernetes.io/config.seen': seen = '',
      'nodeward.io/agent': agent,
      ...annotations
    } = sandbox.annotations;
    assert.equal(agent, `node lab, root folder ${lab.rootDir}`);
    assert.deepEqual(annotations, { note: 'mine', 'kubernetes.io/config.source': 'api' });
    assert.ok(Date.parse(seen) > 0);

    assert.partialDeepStrictEqual(container.metadata, { name: 'c', attempt: 0 });
    assert.deepEqual(container.labels, { ...podLabels('given', uid), 'io.kubernetes.container.name': 'c' });
    assert.deepEqual(container.annotations, {
      'io.kubernetes.container.hash': hash,
      'io.kubernetes.container.ports': '[{"name":"web","containerPort":80,"protocol":"TCP"}]',
      'io.kubernetes.container.preStopHandler': JSON.stringify(preStop),
      'io.kubernetes.container.restartCount': '0',
      'io.kubernetes.container.terminationMessagePath': '/tmp/words',
      'io.kubernetes.container.terminationMessagePolicy': 'FallbackToLogsOnError',
      'io.kubernetes.pod.terminationGracePeriod': '2',
    });

    assert.equal(container.image?.userSpecifiedImage, image);
    assert.match(container.image.image, /^sha256:/);
    const { status } = await cri.call(RuntimeService.method.containerStatus, { containerId: container.id });
    assert.equal(status?.logPath, `/var/log/pods/default_given_${uid}/c/0.log`);
    const folder = join(lab.rootDir, 'pods', uid);
    const pathOf = (path: string) =>
      status.mounts.find(({ containerPath }) => containerPath === path)?.hostPath ?? '';
    assert.match(pathOf('/tmp/words'), new RegExp(`^${folder}/containers/c/[0-9a-f]{8}$`));
    assert.equal(pathOf('/etc/hosts'), join(folder, 'etc-hosts'));
    const link = `given_default_c-${idOf(pod)}.log`;
    const isLinked = async () => (await readdir(join(lab.node.logFolder, 'containers'))).includes(link);
    await waitFor('the link to its log', isLinked); // made beside the start
    const { info } = await cri.call(RuntimeService.method.podSandboxStatus, {
      podSandboxId: sandbox.id,
      verbose: true,
    });
    assert.ok(info['info']?.includes(`"/${lab.node.cgroup}/kubepods/besteffort/pod${uid}"`), 'its cgroup');
    await lab.delete('given', 0);
  });
});
