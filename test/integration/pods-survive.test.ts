/** Pods outlive what runs them: an agent that is killed, a runtime that is killed. Static pods run without an API. */
import assert from 'node:assert/strict';
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ContainerState, RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import { image } from './lab/index.ts';
import { launchAgent } from './nodeward/index.ts';
import type { PodNode } from './pods/index.ts';
import {
  containerOf,
  ending,
  inRuntime,
  isRunningAndReady,
  noting,
  outlivesTheAgent,
  reboot,
  sharedVolume,
  sleeper,
  startPodNode,
  tellsOfKillWhileAway,
  uidOf,
  waitingReason,
} from './pods/index.ts';
import { findLeaks } from './pods/model/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

const ready = async (pod: Pod) =>
  (await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod))).pod;
/** From the API and the runtime. */
async function gone(pod: Pod): Promise<void> {
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
  await waitFor(
    'the runtime to have nothing of it',
    async () => (await inRuntime(lab, uidOf(pod))).length === 0,
  );
}

const countOf = (pod: Pod): number => containerOf(pod)?.restartCount ?? -1;

describe('an agent that starts again', () => {
  for (const how of ['kill9', 'interrupt'] as const) {
    test(`after ${how} touches no container, and tells the same of them`, () => outlivesTheAgent(lab, how));
  }

  test('says which process the kernel killed while it was away, once', () => tellsOfKillWhileAway(lab));

  test('finishes what was deleted and what ended while it was away, and counts on', async () => {
    const [doomed, crashing] = [
      await ready(await lab.run('doomed', { containers: [sleeper()] })),
      await lab.run('counts', { containers: [ending(1)] }),
    ];
    const { pod: crashed } = await lab.pods.until(
      'the wait for a restart',
      uidOf(crashing),
      ({ pod }) => countOf(pod) >= 1 && waitingReason(pod) === 'CrashLoopBackOff',
    );
    await lab.delete('doomed');
    await lab.restartAgent('kill9');
    await gone(doomed);
    const { pod: again } = await lab.pods.until(
      'the next restart',
      uidOf(crashing),
      ({ pod }) => countOf(pod) > countOf(crashed),
    );
    assert.equal(countOf(again), countOf(crashed) + 1);
    await lab.delete('counts', 0);
    await gone(crashing);
  });
});

test('a runtime that is killed and comes back has all its containers, and goes on', async () => {
  const pod = await ready(await lab.run('kept', { containers: [sleeper()] }));
  const before = await inRuntime(lab, uidOf(pod));
  await lab.node.containerd.kill9();
  const late = await lab.run('late', { containers: [sleeper()] });
  await lab.node.containerd.restart();
  await ready(late);
  assert.deepEqual(await inRuntime(lab, uidOf(pod)), before);
  const now = lab.pods.history(uidOf(pod)).at(-1)?.pod ?? pod;
  assert.equal(containerOf(now)?.containerID, containerOf(pod)?.containerID);
  assert.equal(countOf(now), 0);
  for (const each of [pod, late]) await lab.delete(each.metadata?.name ?? '', 0);
  await gone(pod);
  await gone(late);
});

describe('a static pod', () => {
  const manifest = (name: string, text: string) => `apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: ${image}
      command: [/bin/sh, -c, "trap 'exit 0' TERM; echo ${text}; while :; do sleep 3600 & wait $!; done"]
`;
  const mirrorOf = (name: string) =>
    lab.pods.current.find(({ metadata }) => metadata?.name === `${name}-lab`);
  const running = async (name: string, fits: (pod: Pod) => boolean = () => true): Promise<Pod> => {
    const found = () => {
      const mirror = mirrorOf(name);
      return mirror !== undefined && isRunningAndReady(mirror) && fits(mirror) ? mirror : undefined;
    };
    await lab.pods.untilAll(`the mirror of ${name} to run`, () => found() !== undefined);
    const pod = found();
    assert.ok(pod);
    return pod;
  };
  const put = (name: string, text: string) =>
    writeFile(join(lab.manifests, `${name}.yaml`), manifest(name, text));

  test('runs, is shown by its mirror, is replaced with its manifest and ends with it', async () => {
    await put('web', 'one');
    const first = await running('web');
    assert.match(first.status?.podIP ?? '', /^10\.88\./);
    await put('web', 'two');
    const second = await running('web', (pod) => uidOf(pod) !== uidOf(first));
    assert.notEqual(containerOf(second)?.containerID, containerOf(first)?.containerID);

    await rm(join(lab.manifests, 'web.yaml'));
    await lab.pods.untilAll('the mirror to go', () => mirrorOf('web') === undefined);
    await waitFor('the runtime to be empty', async () => (await inRuntime(lab)).length === 0);
  });

  test('runs on when its mirror is deleted, which comes back', async () => {
    await put('kept', 'on');
    const first = await running('kept');
    await lab.delete('kept-lab', 0);
    const second = await running('kept', (pod) => uidOf(pod) !== uidOf(first));
    assert.equal(containerOf(second)?.containerID, containerOf(first)?.containerID);
    await rm(join(lab.manifests, 'kept.yaml'));
    await lab.pods.untilAll('the mirror to go', () => mirrorOf('kept') === undefined);
  });

  test('runs on when the agent is killed; one whose manifest went meanwhile ends', async () => {
    await put('stays', 'on');
    await put('goes', 'off');
    const stays = await running('stays');
    const goes = await running('goes');
    const restarted = lab.agent.process.kill9();
    await rm(join(lab.manifests, 'goes.yaml'));
    await restarted;
    await lab.restartAgent('kill9');
    const now = await running('stays');
    assert.equal(containerOf(now)?.containerID, containerOf(stays)?.containerID);
    await gone(goes);
    await rm(join(lab.manifests, 'stays.yaml'));
    await lab.pods.untilAll('the mirror to go', () => mirrorOf('stays') === undefined);
    await waitFor('the runtime to be empty', async () => (await inRuntime(lab)).length === 0);
  });
});

test('after a reboot of the machine all comes back, counted once, with what was on the disk', async () => {
  const memory = { name: 'memory', emptyDir: { medium: 'Memory' } };
  const both = [
    { name: 'shared', mountPath: '/shared' },
    { name: 'memory', mountPath: '/memory' },
  ];
  const note = 'echo run >> /memory/notes; cat /shared/notes /memory/notes > /shared/all;';
  const work = `${note} trap "exit 0" TERM; while :; do sleep 1; done`;
  const spec = {
    initContainers: [noting('init', 'init')],
    containers: [noting('main', 'main', work, { volumeMounts: both })],
    volumes: [...sharedVolume, memory],
  };
  const pod = await ready(await lab.run('comes-back', spec));
  const done = await lab.run('done', { containers: [ending(0)], restartPolicy: 'Never' });
  const { pod: succeeded } = await lab.pods.until(
    'success',
    uidOf(done),
    (state) => state.pod.status?.phase === 'Succeeded',
  );
  await writeFile(
    join(lab.manifests, 'static.json'),
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'static' },
      spec: { containers: [sleeper()] },
    }),
  );
  const mirror = (): Pod | undefined =>
    lab.pods.current.find(({ metadata }) => metadata?.name === 'static-lab');
  await lab.pods.untilAll('the mirror to run', () => isRunningAndReady(mirror() ?? {}));

  await reboot(lab);

  const { pod: again } = await lab.pods.until(
    'it to run again',
    uidOf(pod),
    (state) => isRunningAndReady(state.pod) && countOf(state.pod) > 0,
  );
  assert.equal(countOf(again), 1);
  assert.equal(containerOf(again, 'init')?.restartCount, 1);
  assert.equal(containerOf(again)?.lastState?.terminated?.exitCode, 255);
  const notes = join(lab.rootDir, 'pods', uidOf(pod), 'volumes/kubernetes.io~empty-dir/shared/all');
  await waitFor('its notes', async () => (await readFile(notes, 'utf8')) === 'init\nmain\ninit\nmain\nrun\n');
  await lab.pods.untilAll('the mirror to run again', () => {
    const now = mirror() ?? {};
    return isRunningAndReady(now) && countOf(now) === 1;
  });
  const last = lab.pods.history(uidOf(done)).at(-1)?.pod ?? done;
  assert.deepEqual([last.status?.phase, countOf(last)], ['Succeeded', countOf(succeeded)]);

  await rm(join(lab.manifests, 'static.json'));
  for (const each of [pod, done]) await lab.delete(each.metadata?.name ?? '', 0);
  const leaks = async () => (await findLeaks(lab)).join('\n');
  await waitFor('nothing to be left', async () => (await leaks()) === '').catch(async () =>
    assert.equal(await leaks(), ''),
  );
});

test('a static pod runs while its node waits for an API that does not answer: it may be the API', async () => {
  const home = dirname(lab.manifests);
  const kubeconfig = join(home, 'away.kubeconfig');
  await copyFile(lab.agent.summary.kubeconfig ?? '', kubeconfig);
  await lab.agent.interrupt(); // and with it the control plane
  const spec = { containers: [sleeper()] };
  const first = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'first', namespace: 'default' }, spec };
  await writeFile(join(lab.manifests, 'first.json'), JSON.stringify(first));
  await using agent = await launchAgent({
    rootDir: join(home, 'new-root'),
    args: [
      ...[
        '--config',
        join(home, 'config.yaml'),
        '--hostname-override',
        'lab',
        '--bootstrap-kubeconfig',
        kubeconfig,
      ],
      ...['--container-runtime-endpoint', lab.node.containerd.endpoint],
    ],
    namespace: lab.node,
  });
  const labelSelector = { 'io.kubernetes.pod.name': 'first-lab' };
  await waitFor('its container to run', async () => {
    const request = { filter: { labelSelector } };
    const { containers } = await lab.node.containerd.cri.call(RuntimeService.method.listContainers, request);
    return containers.some(({ state }) => state === ContainerState.CONTAINER_RUNNING);
  });
  assert.doesNotMatch(agent.stdout, /nodeward is ready\n/);
});
