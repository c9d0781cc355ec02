/** Bad days of a node: a runtime that hangs or has no room, a network that fails, a disk that is full. */
import assert from 'node:assert/strict';
import { glob, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { sendSignal, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode } from './pods/index.ts';
import {
  containerOf,
  inRuntime,
  isRunningAndReady,
  sleeper,
  startPodNode,
  uidOf,
  until,
} from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode({ containerd: { rootMiB: 96, cniFaults: true } });
});
after(() => lab?.[Symbol.asyncDispose]());

/** What is left of pods: in the runtime, of addresses, folders, cgroups, mounts and networks. */
async function leftovers(): Promise<string[]> {
  const { folder } = lab.node.containerd;
  const { cgroup, holder } = lab.node;
  const addresses = await readdir(join(folder, 'addresses/lab')).catch(() => []);
  const folders = await readdir(join(lab.rootDir, 'pods')).catch(() => []);
  const groups = await Array.fromAsync(glob(`/sys/fs/cgroup{,/*}/${cgroup}/kubepods/{,*/}pod*`));
  const mounts = (await readFile(`/proc/${holder}/mounts`, 'utf8')).split('\n');
  return [
    ...(await inRuntime(lab)),
    ...addresses.filter((name) => /^\d/.test(name)),
    ...folders,
    ...groups,
    ...mounts.filter(
      (mount) => mount.includes(`${folder}/state`) || mount.includes(join(lab.rootDir, 'pods/')),
    ),
  ];
}

afterEach(async () => {
  let left: string[] = [];
  const isClean = async () => {
    left = await leftovers();
    return left.length === 0;
  };
  await waitFor('the node to be clean', isClean, { intervalMs: 100 }).catch((error: unknown) => {
    throw new Error(`left: ${left.join(', ')}`, { cause: error });
  });
});

const state = (what: string, pod: Pod, fits: (pod: Pod) => boolean) => until(lab, what, pod, fits, 30_000);
const ready = (pod: Pod) => state('it to run', pod, isRunningAndReady);
const run = (name: string) => lab.run(name, { containers: [sleeper()] });
const waitingMessage = (pod: Pod) => containerOf(pod)?.state?.waiting?.message ?? '';
const says = (pod: Pod, text: RegExp) => state(String(text), pod, (now) => text.test(waitingMessage(now)));
const gone = (pod: Pod) => lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);

async function remove(pod: Pod): Promise<void> {
  await lab.delete(pod.metadata?.name ?? '', 0);
  await gone(pod);
}

async function reports(pod: Pod, text: RegExp): Promise<void> {
  const selector = `involvedObject.uid=${uidOf(pod)}`;
  const format = 'jsonpath={range .items[*]}{.reason}: {.message}{"\\n"}{end}';
  const argv = ['get', 'events', '--field-selector', selector, '-o', format];
  await waitFor(String(text), async () => text.test((await lab.kubectl.run(argv)).stdout), {
    intervalMs: 300,
  });
}

/** What `nodeward pods explain` says that the pod waits for. */
async function explained(name: string): Promise<{ reason: string; message: string; since?: string }> {
  const path = `/api/v1/nodes/lab/proxy/pods/explain/default/${name}`;
  const { stdout } = await lab.kubectl.run(['get', '--raw', path]);
  return JSON.parse(stdout).waitsFor ?? { reason: '', message: '' };
}

/** `fail-ADD`, `hang-DEL` and so on, while the result is not disposed of. */
async function networkFault(fault: string): Promise<AsyncDisposable> {
  const path = join(lab.node.containerd.folder, 'cni-faults', fault);
  await writeFile(path, '');
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

describe('a network', () => {
  test('that is not configured holds pods back, which say so', async () => {
    const path = join(lab.node.containerd.folder, 'cni/10-lab.conflist');
    await rename(path, `${path}.away`);
    const pod = await run('unconfigured');
    await says(pod, /network is not ready: .*cni plugin not initialized/);
    await reports(pod, /^NetworkNotReady: network is not ready/m);
    assert.equal((await explained('unconfigured')).reason, 'NetworkNotReady');
    await rename(`${path}.away`, path);
    await ready(pod);
    await remove(pod);
  });

  test('that fails to add a pod is asked again', async () => {
    const fault = await networkFault('fail-ADD');
    const pod = await run('unadded');
    await says(pod, /failed \(add\): the network is broken/);
    await reports(pod, /^FailedCreatePodSandBox: Failed to create pod sandbox: .*the network is broken/m);
    assert.equal((await explained('unadded')).reason, 'FailedCreatePodSandBox');
    await fault[Symbol.asyncDispose]();
    await ready(pod);
    await remove(pod);
  });

  test('that fails to delete a pod is asked again, until nothing is left', async () => {
    const pod = await ready(await run('undeleted'));
    const fault = await networkFault('fail-DEL');
    await lab.delete('undeleted');
    await reports(pod, /^FailedKillPod: error killing pod: .*failed \(delete\): the network is broken/m);
    assert.match((await explained('undeleted')).message, /the network is broken|is being stopped|released/);
    assert.ok((await leftovers()).length > 0);
    await fault[Symbol.asyncDispose]();
    await gone(pod);
  });

  test('that hangs is waited for, and not when the pod is to go', async () => {
    await using _fault = await networkFault('hang-ADD');
    const pod = await run('unanswered');
    await says(pod, /the sandbox is being made/);
    await waitFor('its address', async () => (await leftovers()).some((left) => left.startsWith('10.88.')));
    await lab.delete('unanswered');
    await gone(pod);
  });
});

describe('a runtime', () => {
  test('without room says what is full, and goes on when there is some', async () => {
    const filler = join(lab.node.containerd.folder, 'root/filler');
    await lab.node.run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
    const pod = await run('roomless');
    await says(pod, /no space left on device/);
    await lab.node.run('rm', [filler]);
    await ready(pod);
    await remove(pod);
  });

  test('whose store of images is damaged says what is missing', async () => {
    const blobs = join(lab.node.containerd.folder, 'root/io.containerd.content.v1.content/blobs');
    await lab.node.run('mv', [`${blobs}/sha256`, `${blobs}/away`]);
    const pod = await run('imageless');
    await says(pod, /blob sha256:[0-9a-f]{64} .*not found/);
    await lab.node.run('mv', [`${blobs}/away`, `${blobs}/sha256`]);
    await ready(pod);
    await remove(pod);
  });

  test('that is stopped for a time holds up what is new, and touches nothing that runs', async () => {
    const kept = await ready(await run('kept'));
    const before = await inRuntime(lab, uidOf(kept));
    sendSignal(lab.node.containerd.pid, 'SIGSTOP');
    const pod = await run('unheard');
    try {
      await says(pod, /the sandbox is being made; .* has not answered for more than 10 s/);
    } finally {
      sendSignal(lab.node.containerd.pid, 'SIGCONT');
    }
    await ready(pod);
    assert.deepEqual(await inRuntime(lab, uidOf(kept)), before);
    assert.equal(containerOf(lab.pods.history(uidOf(kept)).at(-1)?.pod ?? kept)?.restartCount, 0);
    await remove(pod);
    await remove(kept);
  });
});

describe('an agent', () => {
  test('whose disk is full begins nothing that it could not remember, and says which file', async () => {
    const records = join(lab.rootDir, 'pod-records');
    await mkdir(records, { recursive: true });
    await lab.node.run('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'records', records]);
    await lab.node.run('dd', ['if=/dev/zero', `of=${records}/filler`, 'bs=4k']);
    const pod = await run('unrecorded');
    await says(
      pod,
      new RegExp(`cannot keep pod .* in ${records}/${uidOf(pod)}\\.json: its file system is full`),
    );
    assert.deepEqual(await inRuntime(lab), []);
    await lab.node.run('rm', [`${records}/filler`]);
    await ready(pod);
    await remove(pod);
    await lab.node.run('umount', [records]);
  });
});
