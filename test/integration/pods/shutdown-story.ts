import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Pod } from '../../../src/api/index.ts';
import { eventKind, nodeKind, podKind } from '../../../src/api/index.ts';
import type { FakeBus } from '../../support/fake-bus.ts';
import { fakeBus } from '../../support/fake-bus.ts';
import { findProcess, temporaryFolder, waitFor } from '../../support/index.ts';
import { containerOf, isRunningAndReady, uidOf } from './conditions.ts';
import { sleeper, stubborn } from './containers.ts';
import type { PodNode, PodNodeOptions } from './pod-node.ts';
import { inRuntime } from './stories.ts';

/** A logind of the test, and a stand-in for systemd-inhibit that holds no lock but runs as long. */
export interface Shutdowns extends AsyncDisposable {
  readonly bus: FakeBus;
  /** For the agent. */
  readonly env: NonNullable<PodNodeOptions['env']>;
  /** The process of the lock that was taken last, while it runs. */
  lock(): Promise<number | undefined>;
}

export async function prepareShutdowns(): Promise<Shutdowns> {
  await using setup = new AsyncDisposableStack();
  const folder = setup.use(await temporaryFolder('logind-'));
  const bus = setup.use(await fakeBus());
  bus.logind.maxDelaySeconds = 60; // so that the agent need not change the machine's configuration
  const pids = join(folder.path, 'pids');
  await writeFile(pids, '');
  const program = `#!/bin/sh\necho $$ >> ${pids}\nexec cat\n`;
  await writeFile(join(folder.path, 'systemd-inhibit'), program, { mode: 0o755 });
  const resources = setup.move();
  return {
    bus,
    env: {
      PATH: [folder.path, process.env['PATH']].join(delimiter),
      DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${bus.path}`,
    },
    async lock() {
      const pid = Number((await readFile(pids, 'utf8')).trim().split('\n').at(-1));
      return pid > 0 && (await findProcess(pid)) !== undefined ? pid : undefined;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const isHeld = (shutdowns: Shutdowns) => waitFor('the lock', () => shutdowns.lock());
const isReleased = (shutdowns: Shutdowns) =>
  waitFor('the lock to be let go', async () => (await shutdowns.lock()) === undefined);

async function readyOf({ api, name }: PodNode) {
  const { status } = await api.get(nodeKind, name);
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

const read = ({ api }: PodNode, name: string): Promise<Pod> =>
  api.get(podKind, name, { namespace: 'default' });

function assertTerminated({ status, metadata }: Pod): void {
  const message = 'Pod was terminated in response to imminent node shutdown.';
  assert.deepEqual(
    [status?.phase, status?.reason, status?.message],
    ['Failed', 'Terminated', message],
    metadata?.name,
  );
  const disruption = status?.conditions?.find(({ type }) => type === 'DisruptionTarget');
  assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet']);
}

const endOf = (pod: Pod) => containerOf(pod)?.state?.terminated;

/** The whole way of a shutdown that is announced and given up; each group waits only for its pods. */
export async function endsBeforeTheMachine(lab: PodNode, shutdowns: Shutdowns): Promise<void> {
  const first = await isHeld(shutdowns);
  const manifest = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'proxy' },
    spec: { containers: [sleeper()] },
  };
  const file = join(lab.manifests, 'proxy.json');
  await writeFile(file, JSON.stringify(manifest));
  const web = await lab.run('web', { containers: [stubborn()], terminationGracePeriodSeconds: 1 });
  const mirror = await waitFor('the mirror of the static pod', () =>
    lab.pods.current.find(({ metadata }) => metadata?.name === `proxy-${lab.name}`),
  );
  for (const pod of [web, mirror])
    await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod));

  const startedMs = performance.now();
  shutdowns.bus.announce(true);
  await waitFor('the node to be NotReady', async () => (await readyOf(lab))?.status === 'False');
  const { reason, message } = (await readyOf(lab)) ?? {};
  assert.equal(reason, 'KubeletNotReady');
  assert.match(message ?? '', /^node is shutting down/);
  const late = await lab.run('late', { containers: [sleeper()] });
  await isReleased(shutdowns);
  const tookMs = performance.now() - startedMs;

  // what the machine's end would find on the API
  const [webEnded, proxyEnded] = [await read(lab, 'web'), await read(lab, `proxy-${lab.name}`)];
  assertTerminated(webEnded);
  assertTerminated(proxyEnded);
  assert.equal(endOf(webEnded)?.exitCode, 137);
  assert.equal(endOf(proxyEnded)?.exitCode, 0);
  assert.ok(Date.parse(endOf(webEnded)?.finishedAt ?? '') <= Date.parse(endOf(proxyEnded)?.finishedAt ?? ''));
  assert.ok(tookMs >= 900, `the stubborn pod had ${tookMs} ms`);
  const { pod: refused } = await lab.pods.until('the late pod to be refused', uidOf(late), ({ pod }) =>
    Boolean(pod.status?.reason),
  );
  assert.deepEqual([refused.status?.phase, refused.status?.reason], ['Failed', 'NodeShutdown']);

  shutdowns.bus.announce(false);
  await waitFor('the node to be Ready', async () => (await readyOf(lab))?.status === 'True');
  assert.notEqual(await isHeld(shutdowns), first);
  await waitFor('the static pod to run again', async () =>
    isRunningAndReady(await read(lab, `proxy-${lab.name}`)),
  );
  assertTerminated(await read(lab, 'web'));
  const told = await waitFor('both Events', async () => {
    const { items } = await lab.api.list(eventKind, { namespace: 'default' });
    const found = items.filter(
      (event) => event.reason === 'NodeShutdown' && event.involvedObject?.kind === 'Node',
    );
    return found.length >= 2 && found;
  });
  assert.deepEqual(told.map(({ message: text }) => text).sort(), [
    'Shutdown manager detected shutdown cancellation',
    'Shutdown manager detected shutdown event',
  ]);

  await rm(file);
  for (const name of ['web', 'late']) await lab.delete(name, 0);
  await waitFor('nothing to be left', async () => (await inRuntime(lab, uidOf(mirror))).length === 0);
}
