import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { makeContainerLogFolder } from '../../../../../src/agent/pods/logs/index.ts';
import type { StopStep } from '../../../../../src/agent/pods/plan/index.ts';
import type { ContainerView, PodView } from '../../../../../src/agent/pods/view/types.ts';
import { NodeExecutor } from '../../../../../src/agent/pods/worker/index.ts';
import type { ExecutorOptions } from '../../../../../src/agent/pods/worker/types.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { SimulatedRuntime } from '../../../../support/simulated-runtime.ts';
import { givenWithoutApi } from '../../../../support/without-api.ts';
import { running } from '../plan/support.ts';
import { podOf } from './world.ts';

/** Notes with which grace containers are stopped, and which are removed. */
class NotingRuntime extends SimulatedRuntime {
  readonly done: string[] = [];

  override async stopContainer(id: string, graceSeconds: number): Promise<void> {
    this.done.push(`stop ${id} ${graceSeconds}s`);
  }

  override async removeContainer(id: string): Promise<void> {
    this.done.push(`remove ${id}`);
  }
}

const unused = (): never => assert.fail('this is not for what is done here');

function site(clock: ManualClock, options: Partial<ExecutorOptions> = {}) {
  const runtime = new NotingRuntime({ clock });
  const told: string[] = [];
  const executor = new NodeExecutor({
    calls: runtime,
    volumes: {
      want: unused,
      mountsOf: unused,
      accessOf: unused,
      contentsOf: unused,
      readFile: unused,
      release: unused,
      onChange: unused,
    },
    ...givenWithoutApi,
    teller: {
      planned: unused,
      ended: unused,
      did: (_pod, what) => void told.push(what),
      event: (_pod, { reason, message }) => void told.push(`${reason}: ${message}`),
    },
    ...{ rootDir: '/nowhere', logsDir: '/nowhere', cgroups: unused, removeCgroup: unused, node: unused },
    ...{ handlerOf: unused, userIdsOf: unused, security: unused, devicesOf: unused, enter: unused },
    ...{ beforeStart: unused, releaseDevices: unused, agentMark: 'test', releaseUserIds: unused },
    ...{ prepareClaims: unused, releaseClaims: unused },
    beforeStop: async () => ({ [Symbol.dispose]: () => undefined }),
    ...{ clock, log: silentLogger() },
    ...options,
  });
  return { executor, runtime, told };
}

const never = new AbortController().signal;
const pod = podOf('a');
const stop: StopStep = {
  ...{ kind: 'stop', container: 'main', containerId: 'c1', graceSeconds: 30, deadlineMs: 0 },
  ...{ message: 'Stopping container main', runsPreStop: false },
};

describe('the stop of a container', () => {
  test('comes after its checkpoint, with all its grace, and holds further ones back until it has ended', async () => {
    const clock = createManualClock();
    const happened: string[] = [];
    const { executor, runtime, told } = site(clock, {
      async beforeStop({ containerId, graceSeconds, onWait }) {
        happened.push(`before ${containerId} ${graceSeconds}s`);
        onWait?.(30);
        await clock.sleep(20_000);
        return { [Symbol.dispose]: () => void happened.push(...runtime.done, 'ended') };
      },
    });
    const stopping = executor.stop(pod, stop, undefined, never);
    await clock.advance(20_000);
    await stopping;
    assert.deepEqual(happened, ['before c1 30s', 'stop c1 30s', 'ended']);
    assert.deepEqual(told, [
      'Killing: Stopping container main',
      'the stop of container main waits for its checkpoint, at most 30 s',
    ]);
  });

  test('that is given up while it waits stops nothing', async () => {
    const { executor, runtime } = site(createManualClock(), {
      beforeStop: async () => {
        throw new Error('a quicker stop takes its place');
      },
    });
    await assert.rejects(executor.stop(pod, stop, undefined, never), /a quicker stop/);
    assert.deepEqual(runtime.done, []);
  });
});

describe('the removal of a container', () => {
  const of = (attempt: number): ContainerView => running('main', attempt);
  const cases: [
    what: string,
    removed: number,
    left: readonly number[],
    forRestart: boolean,
    logs: string[],
  ][] = [
    ['takes the logs of what is older than what is left', 3, [5, 4], false, ['4.log', '5.log']],
    ['leaves those of older ones that are left', 5, [2], false, ['2.log', '3.log', '4.log', '5.log']],
    ['takes all logs when nothing is left', 5, [], false, []],
    ['for a restart of all leaves its own log', 4, [], true, ['4.log', '5.log']],
  ];
  for (const [what, removed, left, forRestart, logs] of cases) {
    test(what, async () => {
      await using folder = await temporaryFolder();
      const names = { namespace: 'default', name: 'a', uid: 'uid-a' };
      const at = await makeContainerLogFolder(folder.path, names, 'main');
      for (const attempt of [1, 2, 3, 4, 5]) await writeFile(join(at, `${attempt}.log`), '');
      const { executor, runtime } = site(createManualClock(), { logsDir: folder.path });
      const containers = [of(removed), ...left.map(of), running('other', 1)];
      const view: PodView = { ...names, sandboxes: [], containers };
      const step = {
        kind: 'removeContainer',
        containerId: `main-${removed}`,
        container: 'main',
        forRestart,
      } as const;
      await executor.removeContainer(pod, step, view, never);
      assert.deepEqual(runtime.done, [`remove main-${removed}`]);
      assert.deepEqual((await readdir(at)).sort(), logs);
    });
  }

  test('of which nothing is known leaves the logs', async () => {
    await using folder = await temporaryFolder();
    const at = await makeContainerLogFolder(
      folder.path,
      { namespace: 'default', name: 'a', uid: 'uid-a' },
      'main',
    );
    await writeFile(join(at, '0.log'), '');
    const { executor } = site(createManualClock(), { logsDir: folder.path });
    const step = { kind: 'removeContainer', containerId: 'x', container: 'main' } as const;
    await executor.removeContainer(pod, step, undefined, never);
    assert.deepEqual(await readdir(at), ['0.log']);
  });
});
