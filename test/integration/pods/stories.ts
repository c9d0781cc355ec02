/** What each runtime must be able to do, told once for all of them. Each story leaves the node as it was. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeService } from '../../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../../src/api/index.ts';
import { waitFor } from '../../support/index.ts';
import { containerOf, isRunningAndReady, isTrue, uidOf, waitingReason } from './conditions.ts';
import { noting, sharedVolume, sleeper } from './containers.ts';
import type { PodNode } from './pod-node.ts';

/** The first state of the pod that fits. */
export async function until(
  lab: PodNode,
  what: string,
  pod: Pod,
  fits: (pod: Pod) => boolean,
  timeoutMs?: number,
): Promise<Pod> {
  return (await lab.pods.until(what, uidOf(pod), (state) => fits(state.pod), timeoutMs)).pod;
}

const ready = (lab: PodNode, pod: Pod) => until(lab, 'it to run and be ready', pod, isRunningAndReady);
const phase = (lab: PodNode, pod: Pod, wanted: string) =>
  until(lab, `phase ${wanted}`, pod, ({ status }) => status?.phase === wanted);

/** Waits until the pod is gone from the API; returns what was told of it last. */
async function gone(lab: PodNode, pod: Pod): Promise<Pod> {
  return (await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone)).pod;
}

/** The ids of the sandboxes and containers in the runtime, of one pod or of all, with their state. */
export async function inRuntime({ node }: PodNode, uid?: string): Promise<string[]> {
  const { cri } = node.containerd;
  const filter = uid === undefined ? {} : { labelSelector: { 'io.kubernetes.pod.uid': uid } };
  const { items } = await cri.call(RuntimeService.method.listPodSandbox, { filter });
  const { containers } = await cri.call(RuntimeService.method.listContainers, { filter });
  return [...items, ...containers].map(({ id, state }) => `${id} ${state}`).toSorted();
}

/** What a container wrote, as the file of its log has it. */
export async function logOf(
  { node }: PodNode,
  { metadata }: Pod,
  container = 'main',
  attempt = 0,
): Promise<string> {
  const folder = `default_${metadata?.name}_${metadata?.uid}`;
  const path = join(node.logFolder, 'pods', folder, container, `${attempt}.log`);
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return lines.map((line) => line.split(' ').slice(3).join(' ')).join('\n');
}

/** A pod is Running and Ready with its address, and says since when and by which runtime. `whileItRuns`: what else is true then. */
export async function runsAndTells(
  lab: PodNode,
  whileItRuns: () => Promise<void> = async () => undefined,
): Promise<void> {
  const pod = await ready(lab, await lab.run('plain', { containers: [sleeper()] }));
  const { status } = pod;
  assert.match(status?.podIP ?? '', /^10\.88\./);
  assert.deepEqual(status?.podIPs, [{ ip: status?.podIP }]);
  assert.equal(status?.hostIP, lab.node.address);
  assert.equal(status?.qosClass, 'BestEffort');
  for (const condition of ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'PodScheduled'])
    assert.ok(isTrue(pod, condition), condition);
  const main = containerOf(pod);
  assert.ok(main?.ready && main.started);
  assert.equal(main.restartCount, 0);
  assert.match(main.containerID ?? '', /^containerd:\/\/[0-9a-f]{64}$/);
  assert.match(main.imageID ?? '', /sha256:[0-9a-f]{64}$/);
  assert.ok(Date.parse(main.state?.running?.startedAt ?? '') > 0);
  assert.ok(Date.parse(status?.startTime ?? '') > 0);
  const { stdout } = await lab.kubectl.run(['get', 'pod', 'plain', '--no-headers']);
  assert.match(stdout, /^plain +1\/1 +Running +0 /);
  await whileItRuns();
  await lab.delete('plain', 0);
  await gone(lab, pod);
}

/** A container that fails is restarted until it ends with 0. */
export async function restartsOnFailure(lab: PodNode): Promise<void> {
  const container = noting('main', 'run', '[ $(wc -l < /shared/notes) -ge 2 ] || exit 1');
  const spec = { containers: [container], volumes: sharedVolume, restartPolicy: 'OnFailure' };
  const pod = await phase(lab, await lab.run('again', spec), 'Succeeded');
  const main = containerOf(pod);
  assert.equal(main?.restartCount, 1);
  assert.equal(main?.lastState?.terminated?.exitCode, 1);
  await lab.delete('again', 0);
  await gone(lab, pod);
}

/** Each init container starts when the one before is done, and a sidecar runs on beside the others. */
export async function startsInOrder(lab: PodNode): Promise<void> {
  const side = `trap 'echo side-ends >> /shared/notes; exit 0' TERM; while :; do sleep 3600 & wait $!; done`;
  const initContainers = [
    noting('first', 'first', 'sleep 0.3; echo first-done >> /shared/notes'),
    noting('side', 'side', side, { restartPolicy: 'Always' }),
    noting('second', 'second', 'echo second-done >> /shared/notes'),
  ];
  const main = noting('main', 'main', 'cat /shared/notes; sleep 0.2');
  const spec = { initContainers, containers: [main], volumes: sharedVolume, restartPolicy: 'Never' };
  const pod = await lab.run('order', spec);
  const waiting = await until(
    lab,
    'initialization',
    pod,
    (state) => waitingReason(state) === 'PodInitializing',
  );
  assert.equal(waiting.status?.phase, 'Pending');
  const done = await phase(lab, pod, 'Succeeded');
  const order = ['first', 'first-done', 'side', 'second', 'second-done', 'main'];
  const told = (await logOf(lab, done)).split('\n');
  // a sidecar counts as started before its own first word
  assert.deepEqual(told.toSorted(), order.toSorted());
  const places = order.filter((each) => each !== 'side').map((each) => told.indexOf(each));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
  assert.equal(containerOf(done, 'side')?.state?.terminated?.exitCode, 0);
  await lab.delete('order', 0);
  await gone(lab, pod);
}

/** A deleted pod stops its container, then leaves the API, the runtime and the disk. */
export async function leavesNothing(lab: PodNode): Promise<void> {
  const pod = await ready(lab, await lab.run('leaves', { containers: [sleeper()] }));
  await lab.delete('leaves');
  const last = await gone(lab, pod);
  const { terminated } = containerOf(last)?.state ?? {};
  assert.deepEqual([terminated?.exitCode, terminated?.reason], [0, 'Completed']);
  assert.ok(['Succeeded', 'Failed'].includes(last.status?.phase ?? ''), 'the end was told before');
  assert.ok(last.metadata?.deletionTimestamp);
  await waitFor('the runtime to have nothing of it', async () => {
    return (await inRuntime(lab, uidOf(pod))).length === 0;
  });
  await waitFor('its folder to go', () => !existsSync(join(lab.rootDir, 'pods', uidOf(pod))));
  const logs = await readdir(join(lab.node.logFolder, 'pods'));
  assert.equal(
    logs.some((name) => name.includes(uidOf(pod))),
    false,
  );
}

/** An agent that starts again touches no container, and tells the same of them. */
export async function outlivesTheAgent(lab: PodNode, how: 'kill9' | 'interrupt'): Promise<void> {
  const name = `kept-${how}`.toLowerCase();
  const pod = await ready(lab, await lab.run(name, { containers: [sleeper(), sleeper('other')] }));
  const before = await inRuntime(lab, uidOf(pod));
  await lab.restartAgent(how);

  const after = await ready(lab, await lab.run(`${name}-new`, { containers: [sleeper()] }));
  assert.deepEqual(await inRuntime(lab, uidOf(pod)), before);
  const now = lab.pods.history(uidOf(pod)).at(-1)?.pod ?? pod;
  assert.ok(isRunningAndReady(now));
  assert.equal(containerOf(now)?.containerID, containerOf(pod)?.containerID);
  assert.equal(containerOf(now)?.restartCount, 0);
  const wasUnready = lab.pods.history(uidOf(pod)).some(({ pod: state, isGone }) => {
    return isGone || (containerOf(state)?.ready !== true && isAfter(state, pod));
  });
  assert.equal(wasUnready, false, 'it was told unready in between');
  for (const each of [pod, after]) await lab.delete(each.metadata?.name ?? '', 0);
  await gone(lab, pod);
  await gone(lab, after);
}

/** Whether a state was stored after another, by their resource versions. */
function isAfter(a: Pod, b: Pod): boolean {
  return Number(a.metadata?.resourceVersion) > Number(b.metadata?.resourceVersion);
}

/** Containers that end are told with their last words, and the next one waits as long as it must. */
export async function waitsLongerEachTime(lab: PodNode): Promise<void> {
  const words = noting('main', 'run', 'echo "out of luck" > /dev/termination-log; exit 4');
  const pod = await lab.run('crash', { containers: [words], volumes: sharedVolume });
  const waiting = await until(lab, 'the first wait', pod, (state) => {
    return waitingReason(state) === 'CrashLoopBackOff' && containerOf(state)?.restartCount === 1;
  });
  assert.equal(waiting.status?.phase, 'Running');
  assert.match(
    containerOf(waiting)?.state?.waiting?.message ?? '',
    new RegExp(`^back-off 10s restarting failed container=main pod=crash_default\\(${uidOf(pod)}\\)`),
  );
  const { terminated } = containerOf(waiting)?.lastState ?? {};
  assert.deepEqual([terminated?.exitCode, terminated?.message], [4, 'out of luck\n']);
  await lab.delete('crash', 0);
  await gone(lab, pod);
}
