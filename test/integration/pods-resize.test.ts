/** What pods may use, on real cgroups, and how it is changed while they run. */
import assert from 'node:assert/strict';
import { glob, readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { podKind } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode } from './pods/index.ts';
import { containerOf, isRunningAndReady, script, sleeper, startPodNode, uidOf } from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode({ args: ['--feature-gates', 'InPlacePodVerticalScaling=true'] });
});
after(() => lab?.[Symbol.asyncDispose]());

const ready = async (pod: Pod) =>
  (await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod))).pod;

const resources = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });

const resize = (name: string, cpu: string, memory: string) =>
  lab.api.patch(
    podKind,
    name,
    { spec: { containers: [{ name: 'main', resources: resources(cpu, memory) }] } },
    { namespace: 'default', subresource: 'resize', as: 'strategic' },
  );

const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((each) => each.type === type);

/** Waits until the node says that the pod has what it asked for. */
async function resized(
  pod: Pod,
  generation: number,
  cpu: string,
  memory: string,
  restartCount = 0,
): Promise<Pod> {
  const isDone = (now: Pod) => {
    const inForce = containerOf(now)?.resources;
    return (
      (now.status?.observedGeneration ?? 0) >= generation &&
      containerOf(now)?.restartCount === restartCount && // one that has been ended for it has what it is to have
      inForce?.limits?.['cpu'] === cpu &&
      inForce.limits['memory'] === memory &&
      conditionOf(now, 'PodResizeInProgress') === undefined &&
      conditionOf(now, 'PodResizePending') === undefined
    );
  };
  return (await lab.pods.until('it to be resized', uidOf(pod), (state) => isDone(state.pod))).pod;
}

/** The number in a file of the only cgroup of that kind; version 1 of the cgroups. */
async function readGroup(controller: string, pattern: string, file: string): Promise<number> {
  const tree = `/sys/fs/cgroup/${controller}/${lab.node.cgroup}/kubepods`;
  const [folder = ''] = await Array.fromAsync(glob(`${tree}/{,*/}${pattern}`));
  return Number(await readFile(`${folder}/${file}`, 'utf8'));
}

const idOf = (pod: Pod) => containerOf(pod)?.containerID?.split('://')[1] ?? '';
const mebi = 1024 ** 2;

/** Quota of cpu and limit of memory, of the container and of its pod. */
async function readLimits(pod: Pod): Promise<number[]> {
  const groups = [`pod${uidOf(pod)}/${idOf(pod)}`, `pod${uidOf(pod)}`];
  const read = groups.flatMap((group) => [
    readGroup('cpu', group, 'cpu.cfs_quota_us'),
    readGroup('memory', group, 'memory.limit_in_bytes'),
  ]);
  return await Promise.all(read);
}

const eventsOf = async (name: string) => {
  const which = ['--field-selector', `involvedObject.name=${name}`, '-o', 'jsonpath={.items[*].reason}'];
  const { stdout } = await lab.kubectl.run(['get', 'events', ...which]);
  return stdout.split(' ').filter((reason) => reason.startsWith('Resize'));
};

describe('the limits of a container', () => {
  test('hold back what would use more of the processor', async () => {
    const busy = script('main', `trap 'exit 0' TERM; while :; do :; done`, {
      resources: { limits: { cpu: '200m', memory: '32Mi' } },
    });
    const pod = await ready(await lab.run('busy', { containers: [busy] }));
    const throttled = async () => {
      const tree = `/sys/fs/cgroup/cpu/${lab.node.cgroup}/kubepods`;
      const [folder = ''] = await Array.fromAsync(glob(`${tree}/{,*/}pod${uidOf(pod)}/${idOf(pod)}`));
      const text = await readFile(`${folder}/cpu.stat`, 'utf8');
      return Number(/^nr_throttled (\d+)$/m.exec(text)?.[1]) >= 3;
    };
    await waitFor('the kernel to hold it back', throttled);
    await lab.delete('busy', 0);
  });
});

describe('a running pod', () => {
  test('gets more and less, in its cgroups and in its status, and its container runs on', async () => {
    const container = sleeper('main', { resources: resources('100m', '64Mi') });
    const pod = await ready(await lab.run('web', { containers: [container] }));
    assert.deepEqual(await readLimits(pod), [10_000, 64 * mebi, 10_000, 64 * mebi]);
    for (const [generation, cpu, memory, limits] of [
      [2, '300m', '128Mi', [30_000, 128 * mebi]],
      [3, '50m', '32Mi', [5000, 32 * mebi]],
    ] as const) {
      const patch = { spec: { containers: [{ name: 'main', resources: resources(cpu, memory) }] } };
      const argv = ['patch', 'pod', 'web', '--subresource', 'resize', '-p', JSON.stringify(patch)];
      const { code, stderr } = await lab.kubectl.run(argv);
      assert.equal(code, 0, stderr);
      const now = await resized(pod, generation, cpu, memory);
      assert.deepEqual(await readLimits(now), [...limits, ...limits]);
      const { containerID, restartCount, allocatedResources } = containerOf(now) ?? {};
      assert.deepEqual([containerID, restartCount], [containerOf(pod)?.containerID, 0]);
      assert.deepEqual(allocatedResources, { cpu, memory });
    }
    await waitFor(
      'what happened to be reported',
      async () => (await eventsOf('web')).filter((reason) => reason === 'ResizeCompleted').length >= 2,
    );
    await lab.delete('web', 0);
  });

  test('restarts a container that must not be changed as it runs', async () => {
    const container = sleeper('main', {
      resources: resources('100m', '32Mi'),
      resizePolicy: [{ resourceName: 'memory', restartPolicy: 'RestartContainer' }],
    });
    const pod = await ready(await lab.run('restarted', { containers: [container] }));
    await resize('restarted', '100m', '64Mi');
    const now = await resized(pod, 2, '100m', '64Mi', 1);
    assert.deepEqual(await readLimits(now), [10_000, 64 * mebi, 10_000, 64 * mebi]);
    await lab.delete('restarted', 0);
  });

  test('keeps its memory while it uses more than it is to have', async () => {
    const holds = `trap 'exit 0' TERM; dd if=/dev/zero of=/dev/shm/held bs=1M count=40; while :; do sleep 3600 & wait $!; done`;
    const container = script('main', holds, { resources: resources('500m', '96Mi') });
    const pod = await ready(await lab.run('full', { containers: [container] }));
    await waitFor('it to hold its memory', async () => {
      const used = await readGroup('memory', `pod${uidOf(pod)}/${idOf(pod)}`, 'memory.usage_in_bytes');
      return used > 40 * mebi;
    });
    await resize('full', '500m', '32Mi');
    const { pod: told } = await lab.pods.until('it to be refused', uidOf(pod), (state) => {
      return conditionOf(state.pod, 'PodResizeInProgress')?.reason === 'Error';
    });
    const { message = '' } = conditionOf(told, 'PodResizeInProgress') ?? {};
    assert.match(
      message,
      /^cannot decrease memory limits: \[attempting to set pod memory limit \(33554432\) below/,
    );
    assert.deepEqual(await readLimits(pod), [50_000, 96 * mebi, 50_000, 96 * mebi]);
    await resize('full', '500m', '128Mi');
    await resized(pod, 3, '500m', '128Mi');
    await lab.delete('full', 0);
  });

  test('waits for room, and is told of what there can never be', async () => {
    const asks = (cpu: string) => [sleeper('main', { resources: resources(cpu, '32Mi') })];
    const pod = await ready(await lab.run('waits', { containers: asks('500m') }));
    const other = await ready(await lab.run('other', { containers: asks('1') }));
    await resize('waits', '1500m', '32Mi');
    const pending = (reason: string) =>
      lab.pods.until(`it to be ${reason}`, uidOf(pod), (state) => {
        return conditionOf(state.pod, 'PodResizePending')?.reason === reason;
      });
    const { pod: deferred } = await pending('Deferred');
    assert.match(
      conditionOf(deferred, 'PodResizePending')?.message ?? '',
      /^Node didn't have enough resource: cpu, requested: 1500, used: \d+, capacity: \d+$/,
    );
    assert.equal((await readLimits(pod))[0], 50_000);
    await lab.delete('other', 0);
    await lab.pods.until('the other to be gone', uidOf(other), ({ isGone }) => isGone);
    const now = await resized(pod, 2, '1500m', '32Mi');
    assert.equal((await readLimits(now))[0], 150_000);
    await resize('waits', '900', '32Mi');
    const { pod: never } = await pending('Infeasible');
    assert.match(
      conditionOf(never, 'PodResizePending')?.message ?? '',
      /^Node didn't have enough capacity: cpu, requested: 900000, capacity: \d+$/,
    );
    await lab.delete('waits', 0);
  });
});
