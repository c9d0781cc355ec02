import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ContainerState } from '../../../src/agent/runtime/gen/cri_pb.js';
import type { Pod } from '../../../src/api/index.ts';
import { waitFor } from '../../support/index.ts';
import { containerOf, isRunningAndReady, uidOf } from './conditions.ts';
import { script, sharedVolume } from './containers.ts';
import type { PodNode } from './pod-node.ts';
import { inRuntime, until } from './stories.ts';

interface KillEvent {
  readonly involvedObject?: { readonly fieldPath?: string };
  readonly message?: string;
  readonly count?: number;
}

/** The Events `OOMKilling` of a pod. */
export async function eventsOfKills({ kubectl }: PodNode, pod: string): Promise<KillEvent[]> {
  const of = `involvedObject.name=${pod},reason=OOMKilling`;
  const { stdout } = await kubectl.run(['get', 'events', '--field-selector', of, '-o=json']);
  const { items }: { items: KillEvent[] } = JSON.parse(stdout);
  return items;
}

/** What `container_oom_events_total` says of a container, in all its lives that the runtime still has; undefined: nothing. */
export async function killsOf(
  { kubectl }: PodNode,
  pod: string,
  container: string,
): Promise<number | undefined> {
  const { stdout } = await kubectl.run(['get', '--raw', '/api/v1/nodes/lab/proxy/metrics/cadvisor']);
  const series = stdout.split('\n').filter((line) => {
    const isSame = line.includes(`container="${container}"`) && line.includes(`pod="${pod}"`);
    return (
      isSame &&
      /^container_oom_events_total\{.*image=".*busybox.*",name="[0-9a-f]{64}",namespace="default"/.test(line)
    );
  });
  if (series.length === 0) return undefined;
  return series.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

const limits = { resources: { limits: { memory: '32Mi' } } };
/** Containerd 1.6 does not tell the limit of a container; the pod of one container has the same. */
const killed =
  /^the kernel killed its first process "tail" \(pid \d+, \d+Mi in memory\) for want of memory: (?:its limit of memory|the limit of memory of its pod) is 32Mi$/;
type End = NonNullable<NonNullable<ReturnType<typeof containerOf>>['lastState']>['terminated'];

function isTold(end: End): void {
  assert.deepEqual([end?.reason, end?.exitCode], ['OOMKilled', 137]);
  assert.match(end?.message ?? '', killed);
}

/** The first process of a container is killed: its status says so, also after the restart, and there is one Event for each. */
export async function endsForWantOfMemory(lab: PodNode): Promise<void> {
  const greedy = script('main', 'sleep 0.5; exec tail /dev/zero', limits);
  const once = await lab.run('greedy', { containers: [greedy], restartPolicy: 'Never' });
  const failed = await until(lab, 'failure', once, ({ status }) => status?.phase === 'Failed');
  isTold(containerOf(failed)?.state?.terminated);
  const first =
    'if [ -e /shared/notes ]; then sleep 3600; fi; touch /shared/notes; sleep 0.5; exec tail /dev/zero';
  const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
  const healing = script('main', first, { ...limits, volumeMounts });
  const pod = await lab.run('greedy-once', { containers: [healing], volumes: sharedVolume });
  const again = await until(lab, 'it to run again', pod, (state) => {
    return isRunningAndReady(state) && containerOf(state)?.restartCount === 1;
  });
  isTold(containerOf(again)?.lastState?.terminated);
  for (const name of ['greedy', 'greedy-once']) {
    await isToldOnce(lab, name);
    assert.equal(await killsOf(lab, name, 'main'), 1);
    await lab.delete(name, 0);
  }
}

async function isToldOnce(lab: PodNode, name: string): Promise<void> {
  const events = await waitFor('the Event', async () => {
    const found = await eventsOfKills(lab, name);
    return found.length > 0 && found;
  });
  assert.deepEqual(
    events.map(({ count, involvedObject }) => [count, involvedObject?.fieldPath]),
    [[1, 'spec.containers{main}']],
  );
  assert.match(
    events[0]?.message ?? '',
    /^the kernel killed the process "tail" .* of container main for want of memory: /,
  );
}

/** A container ends while no agent is there: the next one says why, and the one after it does not say it again. */
export async function tellsOfKillWhileAway(lab: PodNode): Promise<void> {
  const patient = 'while [ ! -e /shared/go ]; do sleep 0.1; done; exec tail /dev/zero';
  const volumeMounts = [{ name: 'shared', mountPath: '/shared' }];
  const main = script('main', patient, { ...limits, volumeMounts });
  const spec = { containers: [main], volumes: sharedVolume, restartPolicy: 'Never' };
  const pod: Pod = await until(lab, 'it to run', await lab.run('away', spec), isRunningAndReady);
  await lab.agent.process.kill9();
  const folder = join(lab.rootDir, 'pods', uidOf(pod), 'volumes/kubernetes.io~empty-dir/shared');
  await writeFile(join(folder, 'go'), '');
  await waitFor('its end', async () =>
    (await inRuntime(lab, uidOf(pod))).some((each) => each.endsWith(` ${ContainerState.CONTAINER_EXITED}`)),
  );
  await lab.restartAgent('kill9');
  const failed = await until(lab, 'failure', pod, ({ status }) => status?.phase === 'Failed');
  const end = containerOf(failed)?.state?.terminated;
  assert.deepEqual([end?.reason, end?.exitCode], ['OOMKilled', 137]);
  assert.match(end?.message ?? '', /^the kernel killed its process "tail" \(pid \d+, \d+Mi in memory\)/);
  await isToldOnce(lab, 'away');
  await lab.restartAgent('interrupt');
  assert.equal(await killsOf(lab, 'away', 'main'), 1);
  await isToldOnce(lab, 'away');
  await lab.delete('away', 0);
}
