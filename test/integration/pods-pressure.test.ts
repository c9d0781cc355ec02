/** Who goes when the node is short of memory or disk, in which order and with which words; and that nobody comes back in a loop. */
import assert from 'node:assert/strict';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readMemory } from '../../src/agent/node/index.ts';
import { CriContainerState, RuntimeService } from '../../src/agent/runtime/index.ts';
import type { Pod } from '../../src/api/index.ts';
import { eventKind, nodeKind, priorityClassKind } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Container, PodNode, PodSpec } from './pods/index.ts';
import { inRuntime, isRunningAndReady, script, startPodNode, uidOf } from './pods/index.ts';

before(ensureBuilt);

const mebibyte = 2 ** 20;
/** What all pods together may use of the memory; of that 100 MiB are to stay free. */
const podMebibytes = 400;

/** What is short is told until the test has seen it, however slow the machine. */
const settings = (transition = '1h') => {
  const { capacityBytes = 0 } = readMemory('/proc', '/sys') ?? {};
  const lines = [
    'nodeStatusUpdateFrequency: 1s',
    'evictionHard: {allocatableMemory.available: 100Mi, nodefs.available: 30Mi}',
    `evictionPressureTransitionPeriod: ${transition}`,
    `systemReserved: {memory: "${capacityBytes - podMebibytes * mebibyte}"}`,
  ];
  return `${lines.join('\n')}\n`;
};

let lab: PodNode;
before(async () => {
  lab = await startPodNode({ config: settings(), rootMebibytes: 128 });
});
after(() => lab?.[Symbol.asyncDispose]());

type Medium = 'Memory' | '';

/** Writes so many MiB into a volume of its own, and waits. */
function hog(
  mebibytes: number,
  medium: Medium,
  more: Partial<Container> = {},
  spec: Partial<PodSpec> = {},
): PodSpec {
  const text = `dd if=/dev/zero of=/data/file bs=1048576 count=${mebibytes} && touch /tmp/done; trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done`;
  const container = script('main', text, { volumeMounts: [{ name: 'data', mountPath: '/data' }], ...more });
  return { containers: [container], volumes: [{ name: 'data', emptyDir: { medium } }], ...spec };
}

const runs = async (name: string, spec: PodSpec) => {
  const pod = await lab.run(name, spec);
  await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod));
  return pod;
};
const ends = async (pod: Pod) =>
  (await lab.pods.until('it to be evicted', uidOf(pod), (state) => state.pod.status?.phase === 'Failed')).pod;
const stateOf = (pod: Pod) => lab.pods.history(uidOf(pod)).at(-1)?.pod;
const disruptionOf = ({ status }: Pod) => status?.conditions?.find(({ type }) => type === 'DisruptionTarget');

/** The containers of the pod that run. */
async function running(pod: Pod): Promise<string[]> {
  const filter = { labelSelector: { 'io.kubernetes.pod.uid': uidOf(pod) } };
  const { containers } = await lab.node.containerd.cri.call(RuntimeService.method.listContainers, { filter });
  return containers.flatMap(({ id, state }) => (state === CriContainerState.CONTAINER_RUNNING ? [id] : []));
}

async function becomes(type: string, status: string) {
  await waitFor(
    `${type} to be ${status}`,
    async () =>
      (await lab.api.get(nodeKind, lab.name)).status?.conditions?.find((each) => each.type === type)
        ?.status === status,
    { timeoutMs: 60_000, intervalMs: 100 },
  );
}

async function eventsOf(pod: Pod, reason: string) {
  const { items } = await lab.api.list(eventKind, { namespace: 'default' });
  return items.filter((event) => event.involvedObject.uid === uidOf(pod) && event.reason === reason);
}

describe('memory', () => {
  test('the least important of those above their requests goes, and nothing critical', async () => {
    const critical = { ...hog(150, 'Memory'), hostNetwork: true };
    const manifest = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'critical' }, spec: critical };
    await writeFile(join(lab.manifests, 'critical.json'), JSON.stringify(manifest));
    const requests = { memory: '100Mi' };
    const within = await runs('within', hog(60, 'Memory', { resources: { requests } }));
    await lab.api.create(priorityClassKind, { metadata: { name: 'dear' }, value: 1000 });
    const dear = await runs('dear', hog(50, 'Memory', {}, { priorityClassName: 'dear' }));
    const cheap = await runs('cheap', hog(60, 'Memory'));
    const evicted = await ends(cheap);
    const { status } = evicted;
    assert.equal(status?.reason, 'Evicted');
    assert.match(
      status?.message ?? '',
      /^The node was low on resource: memory\. Threshold quantity: 100Mi, available: \d+(?:Ki|Mi)\. Container main was using \d+(?:Ki|Mi), request is 0, has larger consumption of memory\. $/,
    );
    assert.partialDeepStrictEqual(disruptionOf(evicted), {
      ...{ status: 'True', reason: 'TerminationByKubelet', message: status?.message },
    });
    const [event] = await waitFor('its event', async () => {
      const found = await eventsOf(cheap, 'Evicted');
      return found.length > 0 ? found : undefined;
    });
    assert.partialDeepStrictEqual(event?.metadata?.annotations, {
      ...{ offending_containers: 'main', starved_resource: 'memory' },
    });
    for (const pod of [within, dear]) assert.equal(stateOf(pod)?.status?.phase, 'Running');
    assert.deepEqual(await running(cheap), []);
  });

  test('while it is short no pod comes back in a loop, and those that request memory may come', async () => {
    await becomes('MemoryPressure', 'True');
    const small = hog(1, 'Memory');
    const refused: Pod[] = [];
    for (let round = 0; round < 5; round += 1) {
      const pod = await lab.run(`loop-${round}`, small);
      const ended = await ends(pod);
      refused.push(pod);
      assert.deepEqual(
        [ended.status?.reason, ended.status?.message],
        ['Evicted', 'Pod was rejected: The node had condition: [MemoryPressure]. '],
      );
      assert.equal(disruptionOf(ended), undefined);
    }
    for (const pod of refused) assert.deepEqual(await inRuntime(lab, uidOf(pod)), []);
    const requests = { memory: '1Mi' };
    await runs('asking', hog(1, 'Memory', { resources: { requests } }));
  });

  test('after the transition period they come again', async () => {
    await lab.configure(settings('1s'));
    await becomes('MemoryPressure', 'False');
    await lab.configure(settings());
    await runs('after', hog(1, 'Memory'));
    const static_ = lab.pods.current.find(({ metadata }) => metadata?.name === `critical-${lab.name}`);
    assert.equal(static_?.status?.phase, 'Running');
    await rm(join(lab.manifests, 'critical.json'));
  });
});

describe('disk', () => {
  test('the one that takes most of it goes, and room comes back', async () => {
    const few = await runs('few', hog(5, ''));
    const much = await runs('much', hog(20, ''));
    const hasWritten = async (pod: string) =>
      (await lab.kubectl.run(['exec', pod, '--', 'test', '-e', '/tmp/done'])).code === 0;
    for (const pod of ['few', 'much']) await waitFor(`${pod} to have written`, () => hasWritten(pod));
    const { bavail, bsize } = await statfs(lab.rootDir);
    const ballast = join(lab.rootDir, 'ballast');
    await writeFile(ballast, Buffer.alloc(bavail * bsize - 20 * mebibyte));
    const { status } = await ends(much);
    assert.match(
      status?.message ?? '',
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: 30Mi, available: \d+(?:Ki|Mi)\. /,
    );
    assert.equal(stateOf(few)?.status?.phase, 'Running');
    await becomes('DiskPressure', 'True');
    const late = await lab.run('late', hog(1, '', { resources: { requests: { memory: '1Mi' } } }));
    const { status: ofLate } = await ends(late);
    assert.equal(ofLate?.message, 'Pod was rejected: The node had condition: [DiskPressure]. ');
    await rm(ballast);
    await lab.configure(settings('1s'));
    await becomes('DiskPressure', 'False');
    assert.equal(stateOf(few)?.status?.phase, 'Running');
  });

  test('pods above a limit of their own go, and say which, also when the agent is killed meanwhile', async () => {
    const limited = (limit: string) => ({
      resources: { limits: { 'ephemeral-storage': limit }, requests: { 'ephemeral-storage': '1Mi' } },
    });
    const volumes = [{ name: 'data', emptyDir: { sizeLimit: '2Mi' } }];
    const volume = await lab.run('volume', { ...hog(4, ''), volumes });
    const whole = await lab.run('whole', hog(4, '', limited('3Mi')));
    const wordy = script('wordy', 'head -c 3000000 /dev/urandom | base64; sleep 3600', limited('1Mi'));
    const beside = script('beside', 'sleep 3600', limited('100Mi'));
    const logs = await lab.run('logs', { containers: [wordy, beside] });
    const volumeMounts = [{ name: 'data', mountPath: '/data' }];
    const disobeys = `trap '' TERM; dd if=/dev/zero of=/data/file bs=1048576 count=4; while :; do sleep 1; done`;
    const containers = [script('main', disobeys, { volumeMounts })];
    const stubborn = await lab.run('stubborn', { containers, volumes });
    await waitFor('its event', async () => (await eventsOf(stubborn, 'Evicted')).length > 0, {
      timeoutMs: 60_000,
    });
    await lab.restartAgent('kill9');
    const messages: string[] = [];
    for (const pod of [volume, whole, logs, stubborn]) {
      const ended = await ends(pod);
      assert.equal(ended.status?.reason, 'Evicted');
      assert.equal(disruptionOf(ended), undefined, 'it is its own fault');
      assert.deepEqual(await running(pod), []);
      messages.push(ended.status?.message ?? '');
    }
    const ofVolume = 'Usage of EmptyDir volume "data" exceeds the limit "2Mi". ';
    assert.deepEqual(messages, [
      ofVolume,
      'Pod ephemeral local storage usage exceeds the total limit of containers 3Mi. ',
      'Container wordy exceeded its local ephemeral storage limit "1Mi". ',
      ofVolume,
    ]);
  });
});
