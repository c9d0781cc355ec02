/** How pods end: told to stop, given time, killed when it is over, and gone from the API when nothing of them is left. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode, Shutdowns } from './pods/index.ts';
import {
  containerOf,
  ending,
  endsBeforeTheMachine,
  forkBomb,
  inRuntime,
  isRunningAndReady,
  leavesNothing,
  noting,
  prepareShutdowns,
  script,
  sharedVolume,
  sleeper,
  startPodNode,
  stubborn,
  uidOf,
} from './pods/index.ts';

before(ensureBuilt);

let shutdowns: Shutdowns;
let lab: PodNode;
before(async () => {
  shutdowns = await prepareShutdowns();
  const config = ['podPidsLimit: 40', 'shutdownGracePeriod: 40s', 'shutdownGracePeriodCriticalPods: 20s'];
  lab = await startPodNode({ config: config.join('\n'), env: shutdowns.env });
});
after(() => lab?.[Symbol.asyncDispose]());
after(() => shutdowns?.[Symbol.asyncDispose]());

const ready = async (pod: Pod) =>
  (await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod))).pod;
const gone = (pod: Pod, timeoutMs?: number) =>
  lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone, timeoutMs);

describe('a pod that is deleted', () => {
  test('stops its container, then leaves the API, the runtime and the disk', () => leavesNothing(lab));

  test('that does not obey is killed when its time is over, not earlier', async () => {
    const spec = { containers: [stubborn()], terminationGracePeriodSeconds: 3 };
    const pod = await ready(await lab.run('stubborn', spec));
    const startedMs = performance.now();
    await lab.delete('stubborn');
    const { pod: last, atMs } = await gone(pod);
    assert.ok(atMs - startedMs >= 2900, `it had ${atMs - startedMs} ms`);
    assert.equal(containerOf(last)?.state?.terminated?.exitCode, 137);
  });

  test('a second time with less time ends sooner', async () => {
    const spec = { containers: [stubborn()], terminationGracePeriodSeconds: 600 };
    const pod = await ready(await lab.run('hurried', spec));
    await lab.delete('hurried');
    await lab.pods.until('the end to begin', uidOf(pod), (state) =>
      Boolean(state.pod.metadata?.deletionTimestamp),
    );
    await lab.delete('hurried', 1);
    await gone(pod, 20_000);
  });

  test('runs what is to be done before it is told to stop', async () => {
    const preStop = { exec: { command: ['/bin/sh', '-c', 'echo pre-stop >> /shared/notes; sleep 0.3'] } };
    const end = `trap 'echo term >> /shared/notes; cat /shared/notes > /dev/termination-log; exit 0' TERM`;
    const container = noting('main', 'runs', `${end}; while :; do sleep 3600 & wait $!; done`, {
      lifecycle: { preStop },
    });
    const pod = await ready(await lab.run('prepared', { containers: [container], volumes: sharedVolume }));
    await lab.delete('prepared');
    const { pod: last } = await gone(pod);
    const { terminated } = containerOf(last)?.state ?? {};
    assert.equal(terminated?.message, 'runs\npre-stop\nterm\n');
    assert.equal(terminated?.exitCode, 0);
  });

  test('waits no longer for what is to be done before than its time', async () => {
    const preStop = { exec: { command: ['/bin/sh', '-c', 'sleep 600'] } };
    const containers = [sleeper('main', { lifecycle: { preStop } })];
    const pod = await ready(await lab.run('endless', { containers, terminationGracePeriodSeconds: 2 }));
    await lab.delete('endless');
    await gone(pod, 20_000);
  });

  test('ends its sidecars after its containers, the last first', async () => {
    const note = (name: string) =>
      noting(
        name,
        `${name} starts`,
        `trap 'echo ${name} ends >> /shared/notes; cp /shared/notes /dev/termination-log; exit 0' TERM; while :; do sleep 3600 & wait $!; done`,
        name === 'main' ? {} : { restartPolicy: 'Always' },
      );
    const spec = {
      initContainers: [note('one'), note('two')],
      containers: [note('main')],
      volumes: sharedVolume,
    };
    const pod = await ready(await lab.run('sidecars', spec));
    await lab.delete('sidecars');
    const { pod: last } = await gone(pod);
    const ends = containerOf(last, 'one')
      ?.state?.terminated?.message?.split('\n')
      .filter((line) => line.endsWith('ends'));
    assert.deepEqual(ends, ['main ends', 'two ends', 'one ends']);
  });

  test('before it could start is gone at once', async () => {
    const pod = await lab.run('imageless', {
      containers: [{ ...sleeper(), image: 'localhost:1/lab/missing:1' }],
    });
    await lab.delete('imageless');
    await gone(pod, 20_000);
    await waitFor(
      'the runtime to have nothing of it',
      async () => (await inRuntime(lab, uidOf(pod))).length === 0,
    );
  });

  test('while its container starts is gone, from the runtime too', async () => {
    const pod = await lab.run('starting', { containers: [ending(1)] });
    const isRestarted = (state: { pod: Pod }) => (containerOf(state.pod)?.restartCount ?? 0) >= 1;
    await lab.pods.until('a restart', uidOf(pod), isRestarted);
    await lab.delete('starting', 0);
    await gone(pod);
    await waitFor(
      'the runtime to have nothing of it',
      async () => (await inRuntime(lab, uidOf(pod))).length === 0,
    );
  });

  test('with all its processes, however many it starts', async () => {
    const pod = await ready(await lab.run('bomb', { containers: [forkBomb()] }));
    await lab.delete('bomb', 1);
    await gone(pod, 30_000);
    const other = await ready(await lab.run('after', { containers: [sleeper()] }));
    await lab.delete('after', 0);
    await gone(other);
  });
});

test('a pod past its deadline fails, and says why', async () => {
  const spec = { containers: [sleeper()], activeDeadlineSeconds: 1, terminationGracePeriodSeconds: 1 };
  const pod = await lab.run('deadline', spec);
  const { pod: failed } = await lab.pods.until(
    'it to fail',
    uidOf(pod),
    (state) => state.pod.status?.phase === 'Failed',
  );
  assert.equal(failed.status?.reason, 'DeadlineExceeded');
  assert.equal(failed.status?.message, 'Pod was active on the node longer than the specified deadline');
  await lab.delete('deadline', 0);
});

test('a pod that is created again with the same name is another', async () => {
  const first = await ready(await lab.run('same', { containers: [sleeper()] }));
  await lab.delete('same');
  await gone(first);
  const second = await ready(await lab.run('same', { containers: [script('main', 'sleep 3600')] }));
  assert.notEqual(uidOf(first), uidOf(second));
  await lab.delete('same', 0);
  await gone(second);
});

test('pods end before the machine does, the less important first; a shutdown that is given up is over', () =>
  endsBeforeTheMachine(lab, shutdowns));
