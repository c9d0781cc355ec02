import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { MirrorPodsOptions } from '../../../../../src/agent/pods/index.ts';
import { mirrorPods } from '../../../../../src/agent/pods/index.ts';
import { planMirrors, toMirror } from '../../../../../src/agent/pods/mirror/mirror-plan.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { StatusError } from '../../../../../src/api/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { memoryLog, metrics, namesOf } from '../support.ts';

const waiting = { phase: 'Pending', reason: 'Waiting', message: 'for its image' };

const node = { metadata: { name: 'n1', uid: 'node-uid' } };

const staticPod = (name: string, hash: string): Pod => ({
  metadata: { name, namespace: 'default', uid: hash, annotations: { 'kubernetes.io/config.hash': hash } },
  spec: { nodeName: 'n1', containers: [] },
  status: waiting,
});

const names = ['a', 'b', 'c'];
const side = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom('h1', 'h2')), {
  selector: ([name]) => name,
});

/** What the API has afterwards. */
function applied(onApi: readonly Pod[], statics: readonly Pod[]): Pod[] {
  const { remove, create, update } = planMirrors(statics, onApi, { isComplete: true });
  const told = new Map(update.map(([mirror, pod]) => [mirror, { ...mirror, status: pod.status ?? {} }]));
  const kept = onApi.filter((pod) => !remove.includes(pod)).map((pod) => told.get(pod) ?? pod);
  return [...kept, ...create.map((pod) => ({ ...toMirror(pod, node), status: pod.status ?? {} }))];
}

test('whatever is there, one plan makes the mirrors those of the static pods, and then nothing is left to do', () => {
  const kind = fc.constantFrom('mirror', 'dying', 'regular');
  const there = fc.uniqueArray(fc.tuple(fc.constantFrom(...names), fc.constantFrom('h1', 'h2'), kind), {
    selector: ([name]) => name,
  });
  fc.assert(
    fc.property(side, there, (wanted, found) => {
      const statics = wanted.map(([name, hash]) => staticPod(name, hash));
      const onApi = found.map(([name, hash, what]): Pod => {
        if (what === 'regular') return { metadata: { name, namespace: 'default' } };
        const { metadata, spec } = toMirror(staticPod(name, hash), node);
        const dying = what === 'dying' ? { deletionTimestamp: '2025-01-01T00:00:00Z' } : {};
        return { metadata: { ...metadata, ...dying }, ...(spec === undefined ? {} : { spec }) };
      });
      const regular = namesOf(onApi.filter(({ metadata }) => metadata?.annotations === undefined));
      const after = applied(onApi, statics);
      const shown = after.filter(({ metadata }) => metadata?.annotations !== undefined);
      const expected = wanted
        .filter(([name]) => !regular.includes(name))
        .map(([name, hash]) => `${name} ${hash}`);
      const marks = shown.map(
        ({ metadata }) => `${metadata?.name} ${metadata?.annotations?.['kubernetes.io/config.mirror']}`,
      );
      assert.deepEqual(marks.sort(), expected.sort());
      assert.deepEqual(
        namesOf(after.filter((pod) => !shown.includes(pod))),
        regular,
        'what is no mirror is let be',
      );
      const { remove, create, update } = planMirrors(statics, after, { isComplete: true });
      assert.deepEqual(
        [remove, create.filter(({ metadata }) => !regular.includes(metadata?.name)), update],
        [[], [], []],
      );
    }),
  );
});

test('a mirror is owned by its Node as the API asks for it, and has no uid of the manifest', () => {
  const { metadata } = toMirror(staticPod('a', 'h1'), node);
  assert.equal(metadata?.uid, undefined);
  assert.deepEqual(metadata?.ownerReferences, [
    { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'node-uid', controller: true },
  ]);
});

function parts(api: Record<string, unknown>, statics: readonly Pod[], onApi: readonly Pod[] = []) {
  const clock = createManualClock();
  const { log, lines } = memoryLog();
  const onChange = () => ({ [Symbol.dispose]: () => undefined });
  const options: MirrorPodsOptions = {
    api: api as unknown as MirrorPodsOptions['api'], // the fake has what the test calls
    nodeName: 'n1',
    statics: { pods: () => statics, isComplete: () => true, onChange },
    onApi: { pods: () => onApi, isSynced: () => true, onChange },
    ...{ metrics: metrics(), log, clock },
  };
  return { options, clock, lines };
}

async function running(options: MirrorPodsOptions, work: () => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const service = mirrorPods(options)(stop.signal, () => undefined);
  await work();
  stop.abort();
  await service;
}

test('one pod that is refused holds up no other, is told once and tried again', async () => {
  const created: string[] = [];
  const api = {
    get: async () => node,
    patch: async () => undefined,
    async create(_kind: unknown, { metadata }: Pod) {
      created.push(metadata?.name ?? '');
      if (metadata?.name === 'a')
        throw new StatusError('NotFound', 'namespaces "x" not found', { code: 404 });
      return {};
    },
  };
  const { options, clock, lines } = parts(api, [staticPod('a', 'h1'), staticPod('b', 'h1')]);
  await running(options, async () => {
    await clock.advance(10_000);
    assert.ok(created.filter((name) => name === 'a').length > 2);
    assert.equal(created[1], 'b');
    assert.equal(
      lines.filter((line) => /static pod default\/a is not shown on the API/.test(line)).length,
      1,
    );
  });
});

test('what fails is not tried each time that a pod comes or goes', async () => {
  let tries = 0;
  const api = {
    get: async () => node,
    async create() {
      tries += 1;
      throw new StatusError('NotFound', 'namespaces "x" not found', { code: 404 });
    },
  };
  const { options, clock } = parts(api, [staticPod('a', 'h1')]);
  const changed: ((pods: readonly Pod[]) => void)[] = [];
  const onChange = (listener: (pods: readonly Pod[]) => void) => {
    changed.push(listener);
    return { [Symbol.dispose]: () => undefined };
  };
  await running({ ...options, onApi: { ...options.onApi, onChange } }, async () => {
    for (let each = 0; each < 200; each += 1) {
      for (const tell of changed) tell([]);
      await clock.advance(10);
    }
  });
  assert.ok(tries >= 2 && tries <= 3, `${tries} tries in two seconds`);
});

test('a mirror that cannot be removed is told as what it is, once, and tried again', async () => {
  let tries = 0;
  const api = {
    async delete() {
      tries += 1;
      throw new Error('connection refused');
    },
  };
  const { options, clock, lines } = parts(api, [], [toMirror(staticPod('a', 'h1'), node)]);
  await running(options, () => clock.advance(10_000));
  assert.ok(tries > 2);
  const told = lines.filter((line) => /default\/a/.test(line));
  assert.equal(told.length, 1, told.join(''));
  assert.match(told[0] ?? '', /mirror pod default\/a cannot be removed from the API.*: connection refused/);
});

test('no mirror goes for want of a manifest before all manifests are known; what has changed goes', () => {
  const mirror = (name: string, hash: string) => ({
    ...toMirror(staticPod(name, hash), node),
    status: waiting,
  });
  const onApi = [mirror('a', 'h1'), mirror('b', 'h1')];
  const statics = [staticPod('b', 'h2'), staticPod('c', 'h1')];
  const before = planMirrors(statics, onApi, { isComplete: false });
  assert.deepEqual([namesOf(before.remove), namesOf(before.create)], [['b'], ['b', 'c']]);
  const after = planMirrors(statics, onApi, { isComplete: true });
  assert.deepEqual(
    [namesOf(after.remove), namesOf(after.create)],
    [
      ['a', 'b'],
      ['b', 'c'],
    ],
  );
});

test('the mirror of a pod without a manifest goes when nothing of the pod is left, that of a changed one at once', () => {
  const onApi = [toMirror(staticPod('a', 'h1'), node), toMirror(staticPod('b', 'h1'), node)];
  const statics = [staticPod('b', 'h2')];
  const planFor = (ending: readonly string[]) =>
    planMirrors(statics, onApi, { isComplete: true, isEnding: (name) => ending.includes(name) });
  assert.deepEqual(namesOf(planFor(['default/a', 'default/b']).remove), ['b']);
  assert.deepEqual(namesOf(planFor([]).remove), ['a', 'b']);
});

test('nothing is written while there is no Node', async () => {
  const refuse = (what: string) => async () => assert.fail(what);
  const writes = { create: refuse('created'), delete: refuse('deleted'), patch: refuse('patched') };
  let asked = 0;
  const nobody = async () => {
    asked += 1;
    throw new StatusError('NotFound', 'nodes "n1" not found', { code: 404 });
  };
  const { options, clock, lines } = parts({ ...writes, get: nobody }, [staticPod('a', 'h1')]);
  await running(options, () => clock.advance(120_000));
  assert.ok(asked > 2);
  assert.doesNotMatch(lines.join(''), /warn/i);
});

test('a name that another pod has is told', async () => {
  const api = {
    get: async (kind: { kind: string }) => (kind.kind === 'Node' ? node : { spec: { nodeName: 'n2' } }),
    async create() {
      throw new StatusError('AlreadyExists', 'pods "a" already exists', { code: 409 });
    },
  };
  const { options, clock, lines } = parts(api, [staticPod('a', 'h1')]);
  await running(options, () => clock.advance(5000));
  assert.match(lines.join(''), /static pod default\/a is not shown on the API: another pod has its name/);
});
