/**
 * Random pods on a real runtime, with what goes wrong on a node: the agent killed at any call, the runtime killed, the API away,
 * containers and sandboxes ended by hand, pods deleted and created again. They come to rest, no container runs twice at a time,
 * counts of restarts are exact, nothing starts when its pod ends, and nothing is left.
 */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { after, before, test } from 'node:test';
import { waitFor } from '../support/index.ts';
import { chooseSeed, randomFrom, repetitions } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import { changingCalls, startRegistry } from './lab/index.ts';
import type { PodNode, PodSpec } from './pods/index.ts';
import { containerOf, isRunningAndReady, noting, sharedVolume, startPodNode, uidOf } from './pods/index.ts';
import { findLeaks, NodeFaults, Story } from './pods/model/index.ts';

before(ensureBuilt);

const stories = repetitions('NODEWARD_TEST_PODS', 20);
/** Of a run with many. */
const atOnce = 8;
const faultsInAll = Math.ceil(stories / 5);

const startLab = async () =>
  await startPodNode({
    relayed: true,
    config: 'crashLoopBackOff: { maxContainerRestartPeriod: 1s }\n',
  });

let lab: PodNode;
before(async () => {
  lab = await startLab();
});
after(() => lab?.[Symbol.asyncDispose]());

test('random pods come to rest and leave nothing, whatever is killed', async (t) => {
  const seed = chooseSeed();
  t.diagnostic(`NODEWARD_TEST_SEED=${seed}`);
  const failed = new AbortController();
  const all = Array.from({ length: stories }, (_, index) => new Story(lab, seed + index, failed.signal));
  const faults = new NodeFaults(lab, randomFrom(seed));
  const calm = new AbortController();
  const failing = faults.run(faultsInAll, calm.signal);
  try {
    const waiting = [...all];
    const tellers = Array.from({ length: atOnce }, async () => {
      for (let story = waiting.shift(); story !== undefined; story = waiting.shift()) {
        await story.tell().catch((error: unknown) => {
          failed.abort(error);
          throw error;
        });
      }
    });
    await Promise.all(tellers);
  } finally {
    calm.abort();
    await failing;
  }
  const lives = all.flatMap((story) => story.lives);
  t.diagnostic(`${stories} stories, ${lives.length} pods, ${JSON.stringify(faults.counts)}`);
  const complaints = await Promise.all(lives.map((life) => life.complaints(faults.deafness)));
  assert.deepEqual(complaints.flat(), [], `failed with NODEWARD_TEST_SEED=${seed}`);
  await waitFor('nothing to be left', async () => (await findLeaks(lab)).length === 0).catch(async () => {
    assert.deepEqual(await findLeaks(lab), []);
  });
});

test('an agent that is killed after each call of one life of a pod goes on where it was', async (t) => {
  await beginClean(t);
  const { relay } = lab;
  if (relay === undefined) throw new Error('this needs a relay');
  await using registry = await startRegistry({ namespace: lab.node });
  const { name: image } = await registry.add('steps:1', { extraBytes: 1 });
  const hook = (text: string) => ({ exec: { command: ['/bin/sh', '-c', text] } });
  const lifecycle = { preStop: hook('true'), postStart: hook('true') };
  const work = '[ $(wc -l < /shared/notes) -ge 3 ] || exit 1; trap "exit 0" TERM; while :; do sleep 1; done';
  const spec: PodSpec = {
    initContainers: [noting('init', 'init')],
    containers: [noting('main', 'main', work, { lifecycle, image, imagePullPolicy: 'Always' })],
    volumes: sharedVolume,
    terminationGracePeriodSeconds: 5,
  };
  const killed: string[] = [];
  const kill = async () => {
    lab.agent.process.signal('SIGKILL');
    await lab.agent.process.exited;
  };
  relay.onCall = async (call, point) => {
    if (point !== 'after' || killed.includes(call)) return;
    killed.push(call);
    await kill();
  };
  const pod = await lab.run('steps', spec);
  const look = () => lab.pods.history(uidOf(pod)).at(-1);
  const told = ['Running', 'gone'];
  let isAsked = false;
  await waitFor(
    'its life to end',
    async () => {
      const state = look();
      const isRunning =
        state !== undefined && isRunningAndReady(state.pod) && containerOf(state.pod)?.restartCount === 1;
      const what = state?.isGone === true ? 'gone' : isRunning ? 'Running' : '';
      if (told.includes(what) && !killed.includes(what)) {
        killed.push(what);
        await kill();
      }
      if (lab.agent.process.exit !== undefined) await lab.restartAgent('kill9');
      else if (isRunning && !isAsked) {
        isAsked = await lab.delete('steps').then(
          () => true,
          () => false,
        );
      }
      return state?.isGone === true && (await findLeaks(lab)).length === 0;
    },
    { timeoutMs: 180_000 },
  ).catch(async (error: unknown) => {
    const leaks = await findLeaks(lab);
    throw new Error(JSON.stringify({ error: String(error), killed, leaks, last: look()?.pod.status }));
  });
  relay.onCall = () => undefined;
  assert.deepEqual(killed.toSorted(), [...changingCalls, ...told].toSorted());
  const counts = lab.pods.history(uidOf(pod)).map((state) => containerOf(state.pod)?.restartCount ?? 0);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
  );
  assert.equal(counts.at(-1), 1);
});

/** What a test before has left, because it failed, is no failure of this one. */
async function beginClean(t: TestContext): Promise<void> {
  const left = await findLeaks(lab);
  if (left.length === 0) return;
  t.diagnostic(
    `the test before has left ${left.length} things, such as ${left[0]}: this one has another node`,
  );
  await lab[Symbol.asyncDispose]();
  lab = await startLab();
}
