/** Pods that run: a real containerd, networks of CNI, an agent with its control plane. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode } from './pods/index.ts';
import {
  attachesTo,
  containerOf,
  copiesFiles,
  debugs,
  debugsNode,
  ending,
  endsForWantOfMemory,
  until as findState,
  followsLogs,
  forwardsPorts,
  isRunningAndReady,
  isTrue,
  logOf,
  noting,
  restartsOnFailure,
  runsAndTells,
  runsCommands,
  saysWhyItEnds,
  script,
  servesOtherClients,
  sharedVolume,
  showsLogs,
  showsUsage,
  sleeper,
  startPodNode,
  startsInOrder,
  tellsWhyNoLog,
  uidOf,
  waitingReason,
} from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

const until = (what: string, pod: Pod, fits: (pod: Pod) => boolean) => findState(lab, what, pod, fits);
const ready = (pod: Pod) => until('it to run and be ready', pod, isRunningAndReady);
const phase = (pod: Pod, wanted: string) =>
  until(`phase ${wanted}`, pod, ({ status }) => status?.phase === wanted);

/** What the agent says at a path of its own, by the control plane. */
const askAgent = async (path: string) =>
  (await lab.kubectl.run(['get', '--raw', `/api/v1/nodes/lab/proxy/${path}`])).stdout;

/** What has happened is counted beside what tells of it. */
async function untilMetrics(): Promise<void> {
  let failure: unknown;
  const hold = () =>
    assertMetrics().then(
      () => true,
      (error: unknown) => {
        failure = error;
        return false;
      },
    );
  await waitFor('the metrics', hold).catch(() => {
    throw failure;
  });
}

async function assertMetrics(): Promise<void> {
  const text = await askAgent('metrics');
  const read = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  for (const name of [
    'kubelet_running_pods',
    'kubelet_running_containers\\{container_state="running"\\}',
    'kubelet_pod_start_sli_duration_seconds_count',
    'kubelet_runtime_operations_total\\{operation_type="start_container"\\}',
    'nodeward_pod_step_seconds_count\\{step="start",result="done"\\}',
    'nodeward_pod_view_complete',
  ])
    assert.ok(read(name) >= 1, name);
  assert.ok(read('nodeward_pod_view_age_seconds') < 60);
}

describe('a pod that runs', () => {
  test('is Running and Ready with its address, and says since when and by which runtime', () =>
    runsAndTells(lab, untilMetrics));

  test('has its node from the scheduler, where its creator names none', async () => {
    const placed = await lab.run('placed', { nodeName: '', containers: [ending(0)], restartPolicy: 'Never' });
    assert.equal(placed.spec?.nodeName, undefined);
    const pod = await phase(placed, 'Succeeded');
    assert.equal(pod.spec?.nodeName, lab.name);
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
      const log = await logOf(lab, pod);
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

  test('is restarted on failure until it ends with 0', () => restartsOnFailure(lab));

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

describe('kubectl logs, of three releases', () => {
  test('shows what containers wrote that run, have ended, or were started again', () => showsLogs(lab));
  test('tells why there is no log, and shows what a container said that has ended', () => tellsWhyNoLog(lab));
  test('follows until the container ends, and leaves nothing open', () => followsLogs(lab));
});

test('a container whose first process is killed for want of memory says so', () => endsForWantOfMemory(lab));

describe('kubectl top, of three releases', () => {
  test('shows what a node and its pods use, as the kernel counts it', () => showsUsage(lab));
});

describe('kubectl, of three releases, in a pod that runs', () => {
  test('runs commands, with their exit codes, outputs and an input that ends', () => runsCommands(lab));
  test('attaches to what runs', () => attachesTo(lab));
  test('forwards ports', () => forwardsPorts(lab));
  test('copies files there and back', () => copiesFiles(lab));
  test('adds a container to look at it, also to a copy of it', () => debugs(lab));
  test('looks at the node from a pod', () => debugsNode(lab));
  test('says why a session ends when the node agent stops', () => saysWhyItEnds(lab));
});

test('clients in other languages run commands in a pod', () => servesOtherClients(lab));

describe('containers of one pod', () => {
  test('start in order: each init container when the one before is done, sidecars run on', () =>
    startsInOrder(lab));

  test('share a volume, and each has its own files otherwise', async () => {
    const writer = noting('writer', 'from the writer', 'touch /mine; sleep 3600');
    const look = 'until [ -s /shared/notes ]; do sleep 0.05; done; cat /shared/notes; ls /mine; sleep 3600';
    const reader = script('reader', look, { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] });
    const spec = { containers: [writer, reader], volumes: sharedVolume, terminationGracePeriodSeconds: 0 };
    const pod = await ready(await lab.run('share', spec));
    const log = await waitFor('the reader', async () => {
      const text = await logOf(lab, pod, 'reader');
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
    const { waitsFor, timeline } = JSON.parse(await askAgent('pods/explain/default/never'));
    assert.equal(waitsFor.reason, 'ErrImageNeverPull');
    assert.match(waitsFor.message, /not present with pull policy of Never/);
    assert.ok(Date.parse(waitsFor.next) >= Date.parse(waitsFor.since));
    assert.match(waitsFor.advice, /bring the image to the node/);
    assert.match(JSON.stringify(timeline), /ErrImageNeverPull: /);
    const counted = /^nodeward_pods_waiting\{reason="ErrImageNeverPull"\} 1$/m;
    await waitFor('it to be counted', async () => counted.test(await askAgent('metrics')));
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
    assert.match(containerOf(failed)?.state?.waiting?.message ?? '', /^configmap "late" not found$/);
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

describe('a pod that wants users of its own', () => {
  test('gets them where the runtime can, with its volumes, over a restart of the agent; else it is told why not', async () => {
    const { runtimeHandlers } = await lab.node.containerd.cri.call(RuntimeService.method.status, {});
    const isAble = runtimeHandlers.some(({ name, features }) => name === '' && features?.userNamespaces);
    await chmod(lab.node.containerd.folder, 0o711); // users of the pod have to get to their root file system
    const tell = 'cat /proc/self/uid_map; touch /shared/mine; ls -ln /shared/mine; sleep 3600';
    const volumes = [{ name: 'shared', emptyDir: {} }];
    const container = script('main', tell, { volumeMounts: [{ name: 'shared', mountPath: '/shared' }] });
    const pod = await lab.run('users', { hostUsers: false, volumes, containers: [container] });
    if (!isAble) {
      const { status } = await phase(pod, 'Failed');
      assert.equal(status?.reason, 'PodFeatureUnsupported');
      assert.match(status?.message ?? '', /handler "" does not support user namespaces$/);
      return;
    }
    await ready(pod);
    const text = await waitFor('its words', async () => {
      const log = await logOf(lab, pod);
      return log.includes('/shared/mine') && log;
    });
    const [, first = ''] = /^ *0 +(\d+) +65536$/m.exec(text) ?? [];
    assert.ok(Number(first) >= 65_536 && Number(first) % 65_536 === 0, text);
    assert.match(text, / 0 +0 .* \/shared\/mine$/m, 'it is root of its own files');
    const folder = join(lab.rootDir, 'pods', uidOf(pod));
    const mine = await stat(join(folder, 'volumes/kubernetes.io~empty-dir/shared/mine'));
    assert.equal(mine.uid, 0, 'the volume is mapped, not given away');
    const ids = await readFile(join(folder, 'userns'), 'utf8');
    await lab.restartAgent('kill9');
    await ready(pod);
    assert.equal(await readFile(join(folder, 'userns'), 'utf8'), ids);
    await lab.delete('users', 0);
    await waitFor('its folder to go', () => !existsSync(folder));
  });
});

describe('a pod with a claim of devices', () => {
  test('gets no sandbox before it has that, is told why, and ends all the same', async () => {
    const container = { ...sleeper(), resources: { claims: [{ name: 'gpu' }] } };
    const resourceClaims = [{ name: 'gpu', resourceClaimName: 'absent' }];
    const pod = await lab.run('claims', { resourceClaims, containers: [container] });
    const reason = 'FailedPrepareDynamicResources';
    const ofPod = `involvedObject.name=claims,reason=${reason}`;
    const text = await waitFor('the event', async () => {
      const argv = ['get', 'events', '--field-selector', ofPod, '-o', 'jsonpath={.items[0].message}'];
      const { stdout } = await lab.kubectl.run(argv);
      return stdout !== '' && stdout;
    });
    const what =
      'Failed to prepare dynamic resources: prepare dynamic resources: fetch ResourceClaim absent: ';
    assert.ok(text.startsWith(what), text);
    const waiting = await until('its wait', pod, (each) => (waitingMessage(each) ?? '').includes('absent'));
    assert.match(waitingMessage(waiting) ?? '', /prepare dynamic resources: fetch ResourceClaim absent/);
    const { items } = await lab.node.containerd.cri.call(RuntimeService.method.listPodSandbox, {});
    assert.deepEqual(
      items.filter(({ metadata }) => metadata?.uid === uidOf(pod)),
      [],
    );
    await lab.delete('claims', 0);
    const argv = ['get', 'pod', 'claims', '--ignore-not-found', '-o', 'name'];
    await waitFor('it to go', async () => (await lab.kubectl.run(argv)).stdout === '');
  });
});

const waitingMessage = (pod: Pod) => containerOf(pod)?.state?.waiting?.message;
