/** Checkpoints of pods that the agent runs itself: it needs nothing else, and the end of a pod and its checkpoint wait for each other. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { openCgroups } from '../../src/agent/runtime/cgroup.ts';
import type { Pod } from '../../src/api/index.ts';
import { readKernelFile, readKernelFolder } from '../../src/base/index.ts';
import { findProcess, isAlive, residentBytes, sendSignal, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { nodeward, processesNaming } from './nodeward/index.ts';
import type { PodNode } from './pods/index.ts';
import { containerOf, isRunningAndReady, script, startPodNode, uidOf, webServer } from './pods/index.ts';

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
  return [pod, await untilHeld(size, mebibytes)];
}

/** The process that holds so much memory, of those whose command line has `mark`. */
async function untilHeld(mark: string, mebibytes: number): Promise<number> {
  const held = async () => {
    for (const pid of await processesNaming(mark))
      if ((await residentBytes(pid).catch(() => 0)) >= mebibytes * mebibyte) return pid;
    return undefined;
  };
  return await waitFor('the memory to be held', held, { timeoutMs: 30_000 });
}

const cgroups = openCgroups('/');
const untilFrozen = (pid: number) =>
  waitFor('the container to be frozen', () => cgroups.frozen(pid), { intervalMs: 2 });

/** The criu that dumps the container whose first process is `first`. It works for moments only, so that alone is read. */
function findCriu(first: number): number | undefined {
  const title = new RegExp(`(?:^|\\0)criu: dump .* -t ${first}(?:[\\s\\0]|$)`);
  const isIt = (pid: string) => title.test(readKernelFile(`/proc/${pid}/cmdline`) ?? '');
  return readKernelFolder('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter(isIt)
    .map(Number)
    .at(0);
}

/** A checkpoint that hangs in its dump. One that was over before it could be held is taken again. */
async function holdDump(name: string, pid: number) {
  const first = (await findProcess(pid))?.parent ?? 0;
  for (let tries = 0; tries < 10; tries += 1) {
    let isOver = false;
    const asked = checkpoint(name).finally(() => {
      isOver = true;
    });
    const hold = () => {
      const criu = findCriu(first);
      if (criu === undefined) return isOver ? { criu } : undefined;
      sendSignal(criu, 'SIGSTOP');
      return { criu };
    };
    const { criu } = await waitFor('criu to work', hold, { intervalMs: 2, timeoutMs: 60_000 });
    if (criu !== undefined) return { asked, criu };
  }
  throw new Error(`no checkpoint of ${name} could be held`);
}

const checkpoint = async (name: string) =>
  await nodeward(['checkpoint', `default/${name}/main`, '--root-dir', lab.rootDir]);
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
    const { asked, criu } = await holdDump('hung', pid);
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

describe('a pod that is probed during its checkpoint', () => {
  test('is not asked while it stands still, counts no failure, and is asked again afterwards', async () => {
    const probe = { httpGet: { port: 8080 }, periodSeconds: 1, timeoutSeconds: 3, failureThreshold: 1 };
    const startupProbe = { ...probe, failureThreshold: 600 };
    const probes = { readinessProbe: probe, livenessProbe: probe, startupProbe };
    const { command: [, , serve = ''] = [] } = webServer(8080, 'well');
    const start = async (name: string, text: string) => {
      const pod = await lab.run(name, { containers: [script('main', text, probes)] });
      return (await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod))).pod;
    };
    const size = 'bs=153M';
    const probed = await start(
      'probed',
      `dd if=/dev/zero ${size} count=1 2>/dev/null | sleep 1000000 & ${serve}`,
    );
    const beside = await start('beside', serve);
    const pid = await untilHeld(size, 153);
    const { asked, criu } = await holdDump('probed', pid);
    const before = await probeCounts(probed);
    const others = await probeCounts(beside);
    await waitFor(
      'another pod to be asked for longer than an answer may take',
      async () => (await probeCounts(beside)).liveness >= others.liveness + 5,
      { timeoutMs: 60_000 },
    );
    assert.deepEqual(await probeCounts(probed), before);
    sendSignal(criu, 'SIGCONT');
    const { code, stdout, stderr } = await asked;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /checkpoint-probed_default-main-.*\.tar\n$/);
    await waitFor('it to be asked again', async () => {
      const { liveness, readiness } = await probeCounts(probed);
      return liveness > before.liveness && readiness > before.readiness;
    });
    assert.equal((await probeCounts(probed)).others, before.others);
    const states = lab.pods.history(uidOf(probed)).map(({ pod }) => pod);
    assert.equal(containerOf(states.at(-1) ?? {})?.restartCount, 0);
    const firstReady = states.findIndex(isRunningAndReady);
    assert.ok(states.slice(firstReady).every(isRunningAndReady));
    for (const name of ['probed', 'beside']) await lab.delete(name, 1);
  });
});

/** How often the probes of the pod have succeeded, and all that did not. */
async function probeCounts(pod: Pod) {
  const { stdout } = await lab.kubectl.run(['get', '--raw', '/api/v1/nodes/lab/proxy/metrics/probes']);
  const counts = { liveness: 0, readiness: 0, others: 0 };
  for (const line of stdout.split('\n')) {
    if (!line.startsWith('prober_probe_total{') || !line.includes(`pod_uid="${uidOf(pod)}"`)) continue;
    const count = Number(line.slice(line.lastIndexOf(' ')));
    const [, kind] = /probe_type="(Liveness|Readiness)"/.exec(line) ?? [];
    if (kind === undefined) continue; // of the start
    if (!line.includes('result="successful"')) counts.others += count;
    else if (kind === 'Liveness') counts.liveness += count;
    else counts.readiness += count;
  }
  return counts;
}
