/** Bad days of a node: a runtime that hangs or has no room, a network that fails, a disk that is full. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { glob, mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { childrenOf, sendSignal, waitFor } from '../support/index.ts';
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

const maxPods = 8;

let lab: PodNode;
before(async () => {
  lab = await startPodNode({ config: `maxPods: ${maxPods}\n`, containerd: { rootMiB: 96, cniFaults: true } });
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

interface Explained {
  readonly waitsFor?: { reason: string; message: string; since?: string };
  readonly fullDisks?: readonly { what: string; found: string }[];
}

async function explain(name: string): Promise<Explained> {
  const path = `/api/v1/nodes/lab/proxy/pods/explain/default/${name}`;
  const { stdout } = await lab.kubectl.run(['get', '--raw', path]);
  return JSON.parse(stdout);
}

/** What `nodeward pods explain` says that the pod waits for. */
const explained = async (name: string) => (await explain(name)).waitsFor ?? { reason: '', message: '' };

/** `fail-ADD`, `hang-DEL` and so on, while the result is not disposed of. */
async function networkFault(fault: string): Promise<AsyncDisposable> {
  const path = join(lab.node.containerd.folder, 'cni-faults', fault);
  await writeFile(path, '');
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

/** The pid of a plugin that hangs as a file of `networkFault` says. */
async function findHungPlugin(): Promise<number | undefined> {
  const children = await childrenOf(lab.node.containerd.pid);
  return children.find(({ argv }) => argv.join(' ') === 'sleep 3600')?.pid;
}

/** Overwrites the beginning of all that the store of images has. */
async function garbleImages(): Promise<{ mend(): Promise<void> }> {
  const blobs = join(lab.node.containerd.folder, 'root/io.containerd.content.v1.content/blobs');
  const sh = (text: string) => lab.node.run('sh', ['-c', text, blobs]);
  await sh('cp -a "$0/sha256" "$0/whole"');
  await sh('for blob in "$0"/sha256/*; do head -c 64 /dev/zero | dd of="$blob" conv=notrunc; done');
  return { mend: async () => void (await sh('rm -r "$0/sha256" && mv "$0/whole" "$0/sha256"')) };
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
    const isExplained = async () => (await explained('unadded')).reason === 'FailedCreatePodSandBox';
    await waitFor('the explanation, between two tries', isExplained);
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

describe('a network that hangs when a pod is to go', () => {
  test('holds up that pod alone, which says so, and is asked again', async () => {
    const pod = await ready(await run('unheld'));
    const fault = await networkFault('hang-DEL');
    await lab.delete('unheld');
    const hung = await waitFor('the plugin to hang', findHungPlugin).finally(fault[Symbol.asyncDispose]);
    assert.match((await explained('unheld')).message, /its sandbox is being stopped/);
    const beside = await ready(await run('beside'));
    await remove(beside);
    assert.equal(lab.pods.history(uidOf(pod)).at(-1)?.isGone, false);
    sendSignal(hung, 'SIGKILL');
    await reports(pod, /^FailedKillPod: error killing pod: /m);
    await gone(pod);
  });
});

describe('a runtime', () => {
  test('without room says what is full, and goes on when there is some', async () => {
    const filler = join(lab.node.containerd.folder, 'root/filler');
    await lab.node.run('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
    const pod = await run('roomless');
    const explained = await says(pod, /no space left on device/)
      .then(() => explain('roomless'))
      .finally(() => lab.node.run('rm', [filler]));
    const [disk] = explained.fullDisks ?? [];
    assert.match(`${disk?.what}: ${disk?.found}`, /^disk of the container runtime: tmpfs at .*: .* free/);
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

  test('whose images are garbled says so, and goes on when they are whole', async () => {
    const garbled = await garbleImages();
    const pod = await run('garbled');
    await says(pod, /invalid character|failed to .*(?:image|config)/).finally(garbled.mend);
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

test('a pod of 60 containers runs all of them, and leaves nothing', async () => {
  const containers = Array.from({ length: 60 }, (_, index) => sleeper(`c${index}`));
  const pod = await lab.run('crowd', { containers });
  const whole = await until(lab, 'all to run', pod, isRunningAndReady, 120_000);
  const counts = (whole.status?.containerStatuses ?? []).map(({ restartCount }) => restartCount);
  assert.deepEqual(counts, Array(60).fill(0));
  await lab.delete('crowd');
  await gone(pod);
});

test('more manifests at once than the node takes: those without room get their reason, and make way', async () => {
  const count = 60;
  const names = Array.from({ length: count }, (_, index) => `manifest-${index}`);
  const pathOf = (name: string) => join(lab.manifests, `${name}.json`);
  const spec = { containers: [sleeper()], automountServiceAccountToken: false };
  for (const name of names)
    await writeFile(
      pathOf(name),
      JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }),
    );
  const those = () => lab.pods.current.filter(({ metadata }) => metadata?.name?.startsWith('manifest-'));
  const refused = () => those().filter(({ status }) => status?.phase === 'Failed');
  const running = () => those().filter(isRunningAndReady);
  const isDecided = () => running().length === maxPods && refused().length === count - maxPods;
  await waitFor('all to be decided', isDecided, { timeoutMs: 60_000 });
  // pods of manifests are critical: room is looked for among others, as the reference does
  const message =
    'preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: pods, q: 1), ]';
  for (const { status } of refused()) {
    assert.equal(status?.reason, 'UnexpectedAdmissionError');
    assert.ok(status?.message?.endsWith(message), status?.message);
  }
  const beside = await run('beside-manifests');
  await state('its reason', beside, ({ status }) => status?.reason === 'OutOfpods');
  assert.equal((await inRuntime(lab)).length, 2 * maxPods);
  for (const name of names) await rm(pathOf(name));
  await waitFor('all to be gone', () => those().length === 0, { timeoutMs: 60_000 });
  await remove(beside);
});

/** A folder of logs, and a cgroup with a process, as another agent on the machine would have them of a pod. */
async function podOfAnotherAgent() {
  const uid = crypto.randomUUID();
  const logs = `/var/log/pods/default_elsewhere_${uid}/main`;
  const tops = await Array.fromAsync(glob(`/sys/fs/cgroup{,/*}/${lab.node.cgroup}/kubepods`));
  const groups = tops.map((top) => join(top, `besteffort/pod${uid}`));
  for (const group of groups) await mkdir(group, { recursive: true });
  await lab.node.run('sh', ['-c', `mkdir -p ${logs} && echo x > ${logs}/0.log`]);
  return {
    remains: async () =>
      groups.every((group) => existsSync(group)) &&
      (await lab.node.run('test', ['-e', `${logs}/0.log`])).code === 0,
    async [Symbol.asyncDispose]() {
      for (const group of groups) await rmdir(group).catch(() => undefined);
      await lab.node.run('rm', ['-r', logs.replace(/\/main$/, '')]);
    },
  };
}

describe('an agent', () => {
  test('removes what is left of its own pods, and nothing of another agent on the machine', async () => {
    const known = await ready(await run('known')); // the cgroups of all pods are there with it
    await using other = await podOfAnotherAgent();
    const left = join(lab.rootDir, 'pods/left-by-an-earlier-life');
    await mkdir(left);
    await lab.node.run('mkdir', ['-p', '/var/log/pods/default_gone_left-by-an-earlier-life/main']);
    await lab.restartAgent('kill9');
    await waitFor('what is left to go', () => !existsSync(left));
    assert.equal(
      (await lab.node.run('test', ['-e', '/var/log/pods/default_gone_left-by-an-earlier-life'])).code,
      1,
    );
    assert.ok(await other.remains());
    await remove(known);
  });

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
