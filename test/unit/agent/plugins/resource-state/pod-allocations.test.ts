import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { keepPodAllocations } from '../../../../../src/agent/plugins/resource-state/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';

const name = 'pod_status_manager_state';

interface Node extends AsyncDisposable {
  change(pods: Pod[], isComplete?: boolean): void;
  /** The pod is given what this one asks for. */
  give(pod: Pod): void;
}

async function start(rootDir: string, enabled: boolean, first: Pod[] = [], complete = true): Promise<Node> {
  let [pods, isComplete] = [first, complete];
  const listeners = new Set<(pods: readonly Pod[]) => void>();
  const given = new Map<string | undefined, Pod>();
  const waiting = new Set<() => void>();
  const stop = new AbortController();
  const ready = Promise.withResolvers<void>();
  const ended = keepPodAllocations(
    {
      rootDir,
      enabled,
      pods: {
        pods: () => pods,
        onChange(listener) {
          listeners.add(listener);
          return { [Symbol.dispose]: () => void listeners.delete(listener) };
        },
      },
      given: ({ metadata }) => given.get(metadata?.uid),
      onGiven(listener) {
        waiting.add(listener);
        return { [Symbol.dispose]: () => void waiting.delete(listener) };
      },
      isComplete: () => isComplete,
      clock: systemClock,
      log: silentLogger(),
    },
    ready.resolve,
    stop.signal,
  );
  await ready.promise;
  return {
    change(next, nowComplete = true) {
      [pods, isComplete] = [next, nowComplete];
      for (const listener of [...listeners]) listener(next);
    },
    give(next) {
      given.set(next.metadata?.uid, next);
      for (const listener of [...waiting]) listener();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

function pod(uid: string, cpu: string, phase = 'Running'): Pod {
  return {
    metadata: { name: uid, uid, namespace: 'default' },
    spec: {
      initContainers: [{ name: 'once', resources: { requests: { cpu: '9' } } }],
      containers: [{ name: 'app', resources: { requests: { cpu } } }],
    },
    status: { phase },
  };
}

async function entries(rootDir: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(rootDir, name), 'utf8')).allocationEntries;
}

test('without the feature gate there is no such file, and one of before is removed', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, name), 'whatever');
  await using _node = await start(folder.path, false, [pod('p1', '1')]);
  assert.deepEqual(await readdir(folder.path), []);
});

test('with it, what each container was given first stands until its pod is gone', async () => {
  await using folder = await temporaryFolder();
  await using node = await start(folder.path, true, [pod('p1', '100m')]);
  assert.deepEqual(await entries(folder.path), { p1: { app: { cpu: '100m' } } });
  node.change([pod('p1', '200m'), pod('p2', '1')]);
  const both = { p1: { app: { cpu: '100m' } }, p2: { app: { cpu: '1' } } };
  await waitFor('both pods', async () => {
    assert.deepEqual(await entries(folder.path), both);
    return true;
  });
  node.change([pod('p1', '200m', 'Succeeded'), pod('p2', '1')]);
  await waitFor('one pod', async () => {
    assert.deepEqual(await entries(folder.path), { p2: { app: { cpu: '1' } } });
    return true;
  });
});

test('after a restart what was given stands, and is not forgotten before the pods are known', async () => {
  await using folder = await temporaryFolder();
  {
    await using _before = await start(folder.path, true, [pod('p1', '100m'), pod('p2', '1')]);
  }
  await using node = await start(folder.path, true, [], false);
  assert.deepEqual(Object.keys(await entries(folder.path)), ['p1', 'p2']);
  node.change([pod('p1', '200m')]);
  await waitFor('the pod that is gone to go', async () => {
    assert.deepEqual(await entries(folder.path), { p1: { app: { cpu: '100m' } } });
    return true;
  });
});

test('a damaged file is set aside and made anew from the pods', async () => {
  await using folder = await temporaryFolder();
  await writeFile(join(folder.path, name), '{"allocationEntries":{"p9":{}}}');
  await using _node = await start(folder.path, true, [pod('p1', '1')]);
  assert.deepEqual(await entries(folder.path), { p1: { app: { cpu: '1' } } });
  assert.equal((await readdir(folder.path)).filter((each) => each.includes('.damaged-')).length, 1);
});

test('what a pod was given since is in it as soon as the agent says so', async () => {
  await using folder = await temporaryFolder();
  await using node = await start(folder.path, true, [pod('p1', '100m')]);
  node.give(pod('p1', '300m'));
  await waitFor('the new amounts', async () => {
    assert.deepEqual(await entries(folder.path), { p1: { app: { cpu: '300m' } } });
    return true;
  });
});
