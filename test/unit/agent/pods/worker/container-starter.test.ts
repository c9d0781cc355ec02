import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ContainerStarter } from '../../../../../src/agent/pods/worker/container-starter.ts';
import type { ExecutorOptions } from '../../../../../src/agent/pods/worker/types.ts';
import { PodCgroups } from '../../../../../src/agent/resources/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { SimulatedRuntime } from '../../../../support/simulated-runtime.ts';
import { givenWithoutApi } from '../../../../support/without-api.ts';
import { podOf } from './world.ts';

const clock = createManualClock();
const nothing = { [Symbol.dispose]: () => undefined };

function optionsOf(calls: SimulatedRuntime, folder: string): ExecutorOptions {
  const tree = { version: 2, roots: [], allRoots: [] } as const;
  const limits = { cpuQuota: { isEnforced: true, periodUs: 100_000 }, maxPids: 0 };
  const cgroups = new PodCgroups({ tree, naming: { driver: 'cgroupfs', root: '/' }, limits, clock });
  const ready = {
    want: () => ({ state: 'ready' as const }),
    mountsOf: async () => [],
    accessOf: async () => ({ devices: [], groups: [] }),
    contentsOf: () => [],
    readFile: async () => '',
    release: async () => undefined,
  };
  return {
    ...{ ...givenWithoutApi, calls, clock, rootDir: folder, logsDir: folder },
    volumes: { ...ready, onChange: () => nothing },
    cgroups: async () => cgroups,
    removeCgroup: (uid) => cgroups.remove(uid),
    teller: {
      planned: () => undefined,
      did: () => undefined,
      event: () => undefined,
      ended: () => undefined,
    },
    node: () => ({
      nodeName: 'node',
      hostIps: [],
      clusterDns: [],
      clusterDomain: '',
      hostDns: { servers: [], searches: [], options: [] },
      defaultSysctls: {},
      cpuQuota: { isEnforced: true, periodUs: 100_000 },
      capacity: {},
      allocatable: {},
    }),
    handlerOf: async () => '',
    agentMark: 'test',
    releaseUserIds: async () => undefined,
    prepareClaims: async () => undefined,
    releaseClaims: async () => undefined,
    userIdsOf: async () => undefined,
    security: async () => ({ seccomp: { profileType: 0, localhostRef: '' }, appArmor: undefined }),
    devicesOf: async () => ({ devices: [], environment: [], mounts: [], annotations: {}, cdiDevices: [] }),
    beforeStart: async () => undefined,
    releaseDevices: async () => undefined,
    enter: async () => nothing,
    beforeStop: async () => nothing,
    log: silentLogger(),
  };
}

describe('a container', () => {
  test('that was made while its pod began to end is not started', async () => {
    await using folder = await temporaryFolder('starter-');
    const runtime = new SimulatedRuntime({ clock });
    const pod = podOf('a');
    const metadata = { name: 'a', namespace: 'default', uid: 'uid-a', attempt: 0 };
    const sandboxId = await runtime.runSandbox({ metadata }, '');
    const end = new AbortController();
    const letGo = runtime.fault({ call: 'createContainer', kind: 'hangAfter' });
    const starter = new ContainerStarter(optionsOf(runtime, folder.path), async () => undefined);
    const step = {
      kind: 'start',
      container: 'main',
      type: 'regular',
      sandboxId,
      attempt: 0,
      restartCount: 0,
      imageId: 'i',
    } as const;
    const isEnding = () => end.signal.aborted;
    const starting = starter.start(
      { pod, step, image: { id: 'i', user: {} }, view: undefined, isEnding },
      end.signal,
    );
    while (runtime.containers().length === 0) await new Promise((resolve) => setImmediate(resolve));
    end.abort(new Error('the pod ends'));
    letGo();
    await assert.rejects(starting, /the pod ends/);
    assert.deepEqual(
      runtime.containers().map(({ state }) => state),
      ['created'],
    );
  });

  test('whose postStart hook fails is stopped as any other, with its grace and its preStop hook', async () => {
    await using folder = await temporaryFolder('starter-');
    const runtime = new SimulatedRuntime({ clock });
    const postStart = { httpGet: { host: '127.0.0.1', port: 'none' } };
    const container = { name: 'main', image: 'i', lifecycle: { postStart } };
    const pod = { ...podOf('a'), spec: { containers: [container], terminationGracePeriodSeconds: 7 } };
    const metadata = { name: 'a', namespace: 'default', uid: 'uid-a', attempt: 0 };
    const sandboxId = await runtime.runSandbox({ metadata }, '');
    const told: string[] = [];
    const options = optionsOf(runtime, folder.path);
    const event: typeof options.teller.event = (_pod, { reason, message }, name) =>
      void told.push(`${reason} ${name}: ${message}`);
    const starter = new ContainerStarter(
      { ...options, teller: { ...options.teller, event } },
      async (_pod, { container: name, containerId, graceSeconds, message, runsPreStop }) =>
        void told.push(
          `stop ${name} ${containerId === idOf(runtime)} ${graceSeconds} ${runsPreStop} ${message}`,
        ),
    );
    const step = {
      ...({ kind: 'start', container: 'main', type: 'regular', sandboxId } as const),
      ...{ attempt: 0, restartCount: 0, imageId: 'i' },
    };
    const work = { pod, step, image: { id: 'i', user: {} }, view: undefined, isEnding: () => false };
    const outcome = await starter.start(work, new AbortController().signal);
    assert.partialDeepStrictEqual(outcome, { isStarted: false, reason: 'PostStartHookError' });
    assert.deepEqual(told, [
      'Created main: Container created',
      'Started main: Container started',
      'FailedPostStartHook main: PostStartHook failed',
      'stop main true 7 true FailedPostStartHook',
    ]);
  });
});

const idOf = (runtime: SimulatedRuntime) => runtime.containers()[0]?.id;
