/** Checkpoints of pods that the agent runs itself: it needs nothing else, and the end of a pod and its checkpoint wait for each other. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openCgroups } from '../../src/agent/runtime/cgroup.ts';
import type { Pod } from '../../src/api/index.ts';
import type { ProcessEntry } from '../support/index.ts';
import { findProcess, isAlive, listProcesses, residentBytes, sendSignal, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { nodeward, processesNaming } from './nodeward/index.ts';
import type { PodNode } from './pods/index.ts';
import { containerOf, isRunningAndReady, script, startPodNode, uidOf } from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

const mebibyte = 1024 * 1024;

/** A pod that holds so much memory that its dump takes its time; with the process that holds it. Ends with 7 on SIGTERM. */
async function startLarge(
  name: string,
  mebibytes: number,
  graceSeconds: number,
): Promise<[pod: Pod, pid: number]> {
  const size = `bs=${mebibytes}M`;
  const hold = `dd if=/dev/zero ${size} count=1 2>/dev/null | sleep 1000000 &`;
  const main = script('main', `trap 'exit 7' TERM; ${hold} while :; do sleep 0.1; done`);
  const spec = { containers: [main], restartPolicy: 'Never', terminationGracePeriodSeconds: graceSeconds };
  const { pod } = await lab.pods.until('it to run', uidOf(await lab.run(name, spec)), (state) =>
    isRunningAndReady(state.pod),
  );
  const held = async () => {
    for (const pid of await processesNaming(size))
      if ((await residentBytes(pid).catch(() => 0)) >= mebibytes * mebibyte) return pid;
    return undefined;
  };
  return [pod, await waitFor('the memory to be held', held, { timeoutMs: 30_000 })];
}

const cgroups = openCgroups('/');
const untilFrozen = (pid: number) =>
  waitFor('the container to be frozen', () => cgroups.frozen(pid), { intervalMs: 2 });

/** The criu that dumps the container whose first process is the parent of `pid`. */
async function findCriu(pid: number): Promise<number> {
  const first = (await findProcess(pid))?.parent ?? 0;
  const title = new RegExp(`^criu: dump .* -t ${first}(?:\\s|$)`);
  const isIt = ({ argv }: ProcessEntry) => argv.some((each) => title.test(each));
  const find = async () => (await listProcesses()).find(isIt)?.pid;
  return await waitFor('criu to work', find, { intervalMs: 2 });
}

const checkpoint = (name: string) =>
  nodeward(['checkpoint', `default/${name}/main`, '--root-dir', lab.rootDir]);
const gone = async (pod: Pod) =>
  (await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone, 30_000)).pod;

describe('a pod that is deleted during its checkpoint', () => {
  test('is checkpointed, and then told to stop with all its time', async () => {
    const [pod, pid] = await startLarge('dumped', 151, 30);
    const asked = checkpoint('dumped');
    await untilFrozen(pid);
    await lab.delete('dumped');
    const { code, stdout, stderr } = await asked;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /checkpoint-dumped_default-main-.*\.tar\n$/);
    assert.equal(containerOf(await gone(pod))?.state?.terminated?.exitCode, 7);
  });

  test('is gone in time, though the checkpoint hangs, which says why it was not made', async (t) => {
    const [pod, pid] = await startLarge('hung', 152, 2);
    const asked = checkpoint('hung');
    await untilFrozen(pid);
    const criu = await findCriu(pid);
    sendSignal(criu, 'SIGSTOP');
    const startedMs = performance.now();
    await lab.delete('hung');
    await gone(pod);
    t.diagnostic(`gone after ${Math.round(performance.now() - startedMs)} ms`);
    const { code, stderr } = await asked;
    assert.notEqual(code, 0);
    assert.match(stderr, /checkpointing of default\/hung\/main failed \(it is being stopped\)/);
    if (await isAlive(criu)) sendSignal(criu, 'SIGKILL');
  });
});
