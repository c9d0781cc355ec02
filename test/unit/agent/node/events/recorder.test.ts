import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { describe, test } from 'node:test';
import type { EventRecorderOptions } from '../../../../../src/agent/node/events/index.ts';
import { createEventRecorder, nodeSubject } from '../../../../../src/agent/node/events/index.ts';
import type { Event } from '../../../../../src/api/index.ts';
import { eventKind, StatusError } from '../../../../../src/api/index.ts';
import { MetricsRegistry, silentLogger } from '../../../../../src/base/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import type { Call } from '../fake-api.ts';
import { createFakeApi, UnreachableError } from '../fake-api.ts';

const pod = { kind: 'Pod', namespace: 'default', name: 'web', uid: 'u1' } as const;
const happening = { type: 'Warning', reason: 'Broken', message: 'it is broken' } as const;

function recording(t: TestContext, more: Partial<EventRecorderOptions> = {}) {
  const clock = createManualClock();
  const api = createFakeApi(clock);
  api.namespaces.add('default');
  const metrics = new MetricsRegistry();
  const recorder = createEventRecorder({
    nodeName: 'node-1',
    api,
    clock,
    log: silentLogger(),
    metrics,
    ...more,
  });
  const end = new AbortController();
  const run = recorder.run(end.signal, () => undefined);
  t.after(async () => {
    end.abort();
    await run;
  });
  const written = () => api.calls.map(({ object }) => eventIn(object)).filter((event) => event !== undefined);
  return { api, clock, metrics, recorder, written };
}

function eventIn(object: Call['object']): Event | undefined {
  // what is stored under an Event's fields was written through that kind
  return object !== undefined && 'involvedObject' in object ? (object as Event) : undefined;
}

describe('an Event that is recorded', () => {
  test('is written again when the API has not answered in time', async (t) => {
    const { api, clock, recorder, written } = recording(t);
    api.before = () => new Promise(() => undefined);
    recorder.record(pod, happening);
    await clock.advance(10_000);
    api.before = () => undefined;
    const before = written().length;
    await clock.advance(9000);
    assert.equal(written().length, before);
    await clock.advance(1000);
    assert.equal(written().length, before + 1);
  });

  test('is written beside its object, with who tells', async (t) => {
    const { api, clock, recorder, written } = recording(t);
    recorder.record(pod, happening);
    recorder.record(nodeSubject('node-1'), { ...happening, type: 'Normal' });
    await clock.advance(0);
    const [onPod, onNode] = written();
    assert.deepEqual(
      { ...onPod, metadata: { namespace: onPod?.metadata?.namespace } },
      {
        metadata: { namespace: 'default' },
        involvedObject: { apiVersion: 'v1', ...pod },
        ...happening,
        source: { component: 'kubelet', host: 'node-1' },
        reportingComponent: 'kubelet',
        reportingInstance: 'node-1',
        firstTimestamp: '2025-01-01T00:00:00Z',
        lastTimestamp: '2025-01-01T00:00:00Z',
        count: 1,
      },
    );
    assert.match(onPod?.metadata?.name ?? '', /^web\.[0-9a-f]{15,16}$/);
    assert.equal(onNode?.metadata?.namespace, 'default');
    assert.deepEqual(onNode?.involvedObject, {
      apiVersion: 'v1',
      kind: 'Node',
      name: 'node-1',
      uid: 'node-1',
    });
    for (const event of written()) assert.deepEqual(eventKind.validate(event, undefined), []);
    assert.equal(api.calls.length, 2);
  });

  test('a second time counts up the one that is there, and is made anew where that has expired', async (t) => {
    const { api, clock, recorder } = recording(t);
    recorder.record(pod, happening);
    await clock.advance(5000);
    recorder.record(pod, happening);
    recorder.record(pod, happening);
    await clock.advance(0);
    const name = api.calls[0]?.name ?? '';
    assert.deepEqual(
      api.calls.map(({ verb }) => verb),
      ['create', 'patch'],
    );
    const stored = api.read(eventKind, name);
    assert.equal(stored.count, 3);
    assert.equal(stored.firstTimestamp, '2025-01-01T00:00:00Z');
    assert.equal(stored.lastTimestamp, '2025-01-01T00:00:05Z');

    api.remove(eventKind, name);
    recorder.record(pod, happening);
    await clock.advance(0);
    assert.deepEqual(
      api.calls.map(({ verb }) => verb),
      ['create', 'patch', 'patch', 'create'],
    );
  });

  test('that happens again after a restart of the agent is the same one, counted on', async (t) => {
    const { api, clock, recorder } = recording(t);
    recorder.record(pod, happening);
    recorder.record(pod, happening);
    await clock.advance(0);
    const again = recording(t, { api });
    await again.clock.advance(60_000);
    again.recorder.record(pod, happening);
    await again.clock.advance(0);
    again.recorder.record(pod, happening);
    await again.clock.advance(0);
    const name = api.calls[0]?.name ?? '';
    const stored = api.read(eventKind, name);
    assert.equal(stored.count, 4);
    assert.equal(stored.firstTimestamp, '2025-01-01T00:00:00Z');
    assert.equal(stored.lastTimestamp, '2025-01-01T00:01:00Z');
    assert.deepEqual(
      api.calls.map(({ verb, name: of }) => `${verb} ${of === name}`),
      ['create true', 'create true', 'patch true', 'patch true', 'patch true'],
    );
  });

  test('is cut at a whole character where it is too long', async (t) => {
    const { clock, recorder, written } = recording(t);
    recorder.record(pod, { ...happening, message: 'ä'.repeat(2000) });
    await clock.advance(0);
    const message = written()[0]?.message ?? '';
    assert.ok(Buffer.byteLength(message) <= 1024);
    assert.match(message, /^ä+…$/);
  });
});

describe('an API that takes no Events', () => {
  test('holds up nobody; what waits is written once it does, the same things merged', async (t) => {
    const { api, clock, recorder, written } = recording(t);
    api.before = () => {
      throw new UnreachableError('nobody there');
    };
    recorder.record(pod, happening);
    await clock.advance(0);
    recorder.record(pod, happening);
    recorder.record(nodeSubject('node-1'), happening);
    await clock.advance(3000);
    assert.equal(api.calls.length, 1, 'it is left alone for a while');
    api.before = () => undefined;
    await clock.advance(20_000);
    const last = written().slice(1);
    assert.deepEqual(
      last.map(({ involvedObject, count }) => [involvedObject?.kind, count]),
      [
        ['Pod', 2],
        ['Node', 1],
      ],
    );
  });

  test('for long costs the oldest, which is counted', async (t) => {
    const { api, clock, metrics, recorder, written } = recording(t, { maxQueued: 5 });
    api.before = () => {
      throw new UnreachableError('nobody there');
    };
    for (let each = 0; each < 20; each += 1) recorder.record({ ...pod, uid: `u${each}` }, happening);
    await clock.advance(0);
    api.calls.length = 0;
    api.before = () => undefined;
    await clock.advance(20_000);
    assert.ok(written().length <= 5);
    assert.equal(written().at(-1)?.involvedObject?.uid ?? '', 'u19');
    assert.match(await metrics.metrics(), /nodeward_events_total\{result="dropped"\} 15/);
  });

  test('refuses one for what it is: it is not sent again, and the next is', async (t) => {
    const { api, clock, metrics, recorder } = recording(t);
    api.before = ({ object }) => {
      if (eventIn(object)?.reason === 'Broken') throw new StatusError('Forbidden', 'no');
    };
    recorder.record(pod, happening);
    recorder.record(pod, { ...happening, reason: 'Other' });
    await clock.advance(60_000);
    assert.equal(api.calls.length, 2);
    assert.match(await metrics.metrics(), /nodeward_events_total\{result="refused"\} 1/);
  });
});

test('an object that changes to and fro is told of 25 times, and then once in five minutes', async (t) => {
  const { api, clock, metrics, recorder } = recording(t);
  for (let each = 0; each < 100; each += 1) recorder.record(pod, { ...happening, message: `${each}` });
  await clock.advance(0);
  assert.equal(api.calls.length, 25);
  assert.match(await metrics.metrics(), /nodeward_events_total\{result="limited"\} 75/);
  await clock.advance(300_000);
  recorder.record(pod, happening);
  await clock.advance(0);
  assert.equal(api.calls.length, 26);
});
