/** Pods that run: a real containerd, networks of CNI, an agent with its control plane. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode } from './pods/index.ts';
import {
  containerOf,
  ending,
  isRunningAndReady,
  isTrue,
  noting,
  script,
  sharedVolume,
  sleeper,
  startPodNode,
  uidOf,
  waitingReason,
} from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

const until = async (what: string, pod: Pod, fits: (pod: Pod) => boolean, timeoutMs?: number) =>
  (await lab.pods.until(what, uidOf(pod), (state) => fits(state.pod), timeoutMs)).pod;
const ready = (pod: Pod) => until('it to run and be ready', pod, isRunningAndReady);
const phase = (pod: Pod, wanted: string) =>
  until(`phase ${wanted}`, pod, ({ status }) => status?.phase === wanted);

/** What a container wrote, as the file of the log has it. */
async function logOf({ metadata }: Pod, container = 'main', attempt = 0): Promise<string> {
  const folder = `default_${metadata?.name}_${metadata?.uid}`;
  const path = join(lab.node.logFolder, 'pods', folder, container, `${attempt}.log`);
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return lines.map((line) => line.split(' ').slice(3).join(' ')).join('\n');
}

describe('a pod that runs', () => {
  test('is Running and Ready with its address, and says since when and by which runtime', async () => {
    const pod = await ready(await lab.run('plain', { containers: [sleeper()] }));
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
    assert.ok(Date.parse(main.state?.running?.startedAt ?? '') > 0);
    assert.ok(Date.parse(status?.startTime ?? '') > 0);
    const { stdout } = await lab.kubectl.run(['get', 'pod', 'plain', '--no-headers']);
    assert.match(stdout, /^plain +1\/1 +Running +0 /);
    await lab.delete('plain', 0);
  });

  test('knows its name, its hosts and its variables', async () => {
    const tell = 'hostname; cat /etc/hosts; echo "$GREETING from $NODE at $WHERE"; sleep 3600';
    const field = (fieldPath: string) => ({ valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
    const env = [
      { name: 'GREETING', value: 'hello' },
      { name: 'NODE', ...field('spec.nodeName') },
      { name: 'WHERE', ...field('status.podIP') },
    ];
    const pod = await ready(await lab.run('knows', { containers: [script('main', tell, { env })] }));
    const ip = pod.status?.podIP ?? '';
    const text = await waitFor('its words', async () => {
      const log = await logOf(pod);
      return log.includes('hello from') && log;
    });
    assert.match(text, /^knows$/m);
    assert.match(text, new RegExp(`^${ip}\tknows$`, 'm'));
    assert.match(text, new RegExp(`^hello from lab at ${ip}$`, 'm'));
    await lab.delete('knows', 0);
  });
});

describe('a pod whose container ends', () => {
  test('with 0 has succeeded where it is never restarted', async () => {
    const pod = await phase(
      await lab.run('done', { containers: [ending(0)], restartPolicy: 'Never' }),
      'Succeeded',
    );
    const { terminated } = containerOf(pod)?.state ?? {};
    assert.deepEqual([terminated?.exitCode, terminated?.reason], [0, 'Completed']);
    assert.equal(isTrue(pod, 'Ready'), false);
    const condition = pod.status?.conditions?.find(({ type }) => type === 'Ready');
    assert.equal(condition?.reason, 'PodCompleted');
  });

  test('with 3 has failed where it is never restarted', async () => {
    const pod = await phase(
      await lab.run('bad', { containers: [ending(3)], restartPolicy: 'Never' }),
      'Failed',
    );
    const { terminated } = containerOf(pod)?.state ?? {};
    assert.deepEqual([terminated?.exitCode, terminated?.reason], [3, 'Error']);
  });

  test('is restarted on failure until it ends with 0', async () => {
    const container = noting('main', 'run', '[ $(wc -l < /shared/notes) -ge 2 ] || exit 1');
    const spec = { containers: [container], volumes: sharedVolume, restartPolicy: 'OnFailure' };
    const pod = await phase(await lab.run('again', spec), 'Succeeded');
    const main = containerOf(pod);
    assert.equal(main?.restartCount, 1);
    assert.equal(main?.lastState?.terminated?.exitCode, 1);
  });

  test('again and again waits longer each time, and says so', async () => {
    const pod = await lab.run('crash', { containers: [ending(1)] });
    const waits = (count: number) => (state: Pod) =>
      waitingReason(state) === 'CrashLoopBackOff' && containerOf(state)?.restartCount === count;
    const first = await until('the first wait', pod, waits(1));
    assert.equal(first.status?.phase, 'Running');
    assert.match(
      containerOf(first)?.state?.waiting?.message ?? '',
      new RegExp(`^back-off 10s restarting failed container=main pod=crash_default\\(${uidOf(pod)}\\)`),
    );
    const second = await until('the second wait', pod, waits(2));
    assert.match(containerOf(second)?.state?.waiting?.message ?? '', /^back-off 20s /);
    await lab.delete('crash', 0);
  });

  test('leaves its last words', async () => {
    const last = script('main', 'echo "out of luck" > /dev/termination-log; exit 4');
    const pod = await phase(await lab.run('words', { containers: [last], restartPolicy: 'Never' }), 'Failed');
    assert.equal(containerOf(pod)?.state?.terminated?.message, 'out of luck\n');
  });
});

describe('containers of one pod', () => {
  test('start in order: each init container when the one before is done, sidecars run on', async () => {
    const initContainers = [
      noting('first', 'first', 'sleep 0.3; echo first-done >> /shared/notes'),
      noting(
        'side',
        'side',
        `trap 'echo side-ends >> /shared/notes; exit 0' TERM; while :; do sleep 3600 & wait $!; done`,
        {
          restartPolicy: 'Always',
        },
      ),
      noting('second', 'second', 'echo second-done >> /shared/notes'),
    ];
    const main = noting('main', 'main', 'cat /shared/notes; sleep 0.2');
    const spec = { initContainers, containers: [main], volumes: sharedVolume, restartPolicy: 'Never' };
    const pod = await lab.run('order', spec);
    const waiting = await until('initialization', pod, (state) => waitingReason(state) === 'PodInitializing');
    assert.equal(waiting.status?.phase, 'Pending');
    const done = await phase(pod, 'Succeeded');
    const order = ['first', 'first-done', 'side', 'second', 'second-done', 'main'];
    const told = (await logOf(done)).split('\n');
    // a sidecar counts as started before its own first word
    assert.deepEqual(told.toSorted(), order.toSorted());
    const [places] = [order.filter((each) => each !== 'side').map((each) => told.indexOf(each))];
    assert.deepEqual(
      places,
      places.toSorted((a, b) => a - b),
    );
    assert.equal(containerOf(done, 'side')?.state?.terminated?.exitCode, 0);
  });

  test('share a volume, and each has its own files otherwise', async () => {
    const writer = noting('writer', 'from the writer', 'touch /mine; sleep 3600');
    const look = 'until [ -s /shared/notes ]; do sleep 0.05; done; cat /shared/notes; ls /mine; sleep 3600';
    const reader = script('reader', look, { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] });
    const spec = { containers: [writer, reader], volumes: sharedVolume, terminationGracePeriodSeconds: 0 };
    const pod = await ready(await lab.run('share', spec));
    const log = await waitFor('the reader', async () => {
      const text = await logOf(pod, 'reader');
      return text.includes('/mine') && text;
    });
    assert.match(log, /^from the writer$/m);
    assert.match(log, /\/mine: No such file or directory/);
    const folder = join(lab.rootDir, 'pods', uidOf(pod));
    assert.ok(existsSync(folder));
    await lab.delete('share', 0);
    await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
    await waitFor('its folder to go', () => !existsSync(folder));
  });

  test('that fail before the others hold them back', async () => {
    const spec = {
      initContainers: [ending(7, { name: 'gate' })],
      containers: [sleeper()],
      restartPolicy: 'Never',
    };
    const pod = await phase(await lab.run('gated', spec), 'Failed');
    assert.equal(containerOf(pod, 'gate')?.state?.terminated?.exitCode, 7);
    assert.equal(containerOf(pod)?.containerID ?? '', '');
  });
});

describe('a pod that cannot start', () => {
  test('because its image is missing tells ErrImagePull, then ImagePullBackOff', async () => {
    const container = { ...sleeper(), image: 'localhost:1/lab/missing:1' };
    const pod = await lab.run('imageless', { containers: [container] });
    const failed = await until('the error', pod, (state) => waitingReason(state) === 'ErrImagePull');
    assert.match(containerOf(failed)?.state?.waiting?.message ?? '', /localhost:1\/lab\/missing:1/);
    const waiting = await until('the wait', pod, (state) => waitingReason(state) === 'ImagePullBackOff');
    assert.match(
      containerOf(waiting)?.state?.waiting?.message ?? '',
      /^Back-off pulling image "localhost:1\/lab\/missing:1": ErrImagePull: /,
    );
    assert.equal(waiting.status?.phase, 'Pending');
    await lab.delete('imageless', 0);
    await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
  });

  test('because it must not be pulled tells ErrImageNeverPull', async () => {
    const container = { ...sleeper(), image: 'localhost:1/lab/missing:1', imagePullPolicy: 'Never' };
    const pod = await lab.run('never', { containers: [container] });
    const failed = await until('the error', pod, (state) => waitingReason(state) === 'ErrImageNeverPull');
    assert.equal(
      containerOf(failed)?.state?.waiting?.message,
      'Container image "localhost:1/lab/missing:1" is not present with pull policy of Never',
    );
    await lab.delete('never', 0);
  });

  test('because a variable is from a ConfigMap says so', async () => {
    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'late', key: 'a' } } }];
    const pod = await lab.run('late', { containers: [sleeper('main', { env })] });
    const failed = await until(
      'the error',
      pod,
      (state) => waitingReason(state) === 'CreateContainerConfigError',
    );
    assert.match(containerOf(failed)?.state?.waiting?.message ?? '', /ConfigMap "late"/);
    await lab.delete('late', 0);
  });
});

test('nothing runs of pods that are gone', async () => {
  for (const { metadata } of lab.pods.current) await lab.delete(metadata?.name ?? '', 0);
  await lab.pods.untilAll('all pods to be gone', () => lab.pods.current.length === 0);
  await waitFor('the runtime to be empty', async () => {
    const { containers } = await lab.node.containerd.cri.call(RuntimeService.method.listContainers, {});
    const { items } = await lab.node.containerd.cri.call(RuntimeService.method.listPodSandbox, {});
    return containers.length === 0 && items.length === 0;
  });
});
