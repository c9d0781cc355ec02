import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ApiObject, ObjectMeta } from '../../../../../src/api/index.ts';
import type { Deletion, Plan } from '../../../../../src/apiserver/registry/write/deletion-plan.ts';
import { planDeletion } from '../../../../../src/apiserver/registry/write/deletion-plan.ts';

const now = Date.parse('2026-01-01T12:00:00Z');
const graceful = { gracePeriod: (_object: ApiObject, asked: number | undefined) => asked ?? 30 };

/** What is stored of the metadata: `gone` when the object is removed, `unchanged` when nothing happens. */
function planned(metadata: ObjectMeta, deletion: Deletion, strategy = {}, at = now) {
  const plan: Plan<ApiObject> = planDeletion({ metadata }, deletion, strategy, at);
  if (plan.act === 'store') return plan.next.metadata;
  return plan.act === 'remove' ? 'gone' : 'unchanged';
}

const ending = (deletionTimestamp: string, deletionGracePeriodSeconds: number) => ({
  deletionTimestamp,
  deletionGracePeriodSeconds,
});

describe('what holds nothing', () => {
  test('goes at once, whatever time is asked for', () => {
    assert.equal(planned({}, {}), 'gone');
    assert.equal(planned({}, { gracePeriodSeconds: 60 }), 'gone');
    assert.equal(planned({ finalizers: [] }, { propagationPolicy: 'Background' }), 'gone');
  });
});

describe('a grace period', () => {
  test('puts the end off', () => {
    assert.deepEqual(planned({}, {}, graceful), ending('2026-01-01T12:00:30Z', 30));
    assert.deepEqual(planned({}, { gracePeriodSeconds: 5 }, graceful), ending('2026-01-01T12:00:05Z', 5));
    assert.equal(planned({}, { gracePeriodSeconds: 0 }, graceful), 'gone');
  });

  test('can only be shortened', () => {
    const going = ending('2026-01-01T12:00:30Z', 30);
    assert.equal(planned(going, {}, graceful), 'unchanged');
    assert.equal(planned(going, { gracePeriodSeconds: 30 }, graceful), 'unchanged');
    assert.equal(planned(going, { gracePeriodSeconds: 3600 }, graceful), 'unchanged');
    assert.deepEqual(
      planned(going, { gracePeriodSeconds: 10 }, graceful),
      ending('2026-01-01T12:00:10Z', 10),
      'counted from the first request',
    );
    assert.equal(planned(going, { gracePeriodSeconds: 0 }, graceful), 'gone');
  });

  test('that is over by then becomes the shortest, so that whoever runs the object hears of it', () => {
    const going = ending('2026-01-01T12:00:30Z', 30);
    const later = now + 20_000;
    assert.deepEqual(
      planned(going, { gracePeriodSeconds: 5 }, graceful, later),
      ending('2026-01-01T12:00:20Z', 1),
    );
  });

  test('together with a finalizer: the time first, then the finalizer', () => {
    const finalizers = ['example.com/hold'];
    const first = planned({ finalizers }, {}, graceful);
    assert.deepEqual(first, { finalizers, ...ending('2026-01-01T12:00:30Z', 30) });
    assert.ok(typeof first === 'object');
    assert.deepEqual(planned(first, { gracePeriodSeconds: 0 }, graceful), {
      finalizers,
      ...ending('2026-01-01T12:00:00Z', 0),
    });
  });

  test('is bounded, and a time can be told', () => {
    const long = { gracePeriod: () => Number.MAX_SAFE_INTEGER };
    const metadata = planned({}, {}, long);
    assert.ok(typeof metadata === 'object');
    assert.match(metadata?.deletionTimestamp ?? '', /^20\d\d-/);
  });
});

describe('finalizers', () => {
  const finalizers = ['example.com/hold'];

  test('keep the object, and the second time nothing changes', () => {
    const first = planned({ finalizers, generation: 3 }, {});
    assert.deepEqual(first, { finalizers, generation: 4, ...ending('2026-01-01T12:00:00Z', 0) });
    assert.ok(typeof first === 'object');
    assert.equal(planned(first, {}, {}, now + 60_000), 'unchanged');
    assert.equal(planned(first, { gracePeriodSeconds: 0 }, {}, now + 60_000), 'unchanged');
  });

  test('stand for a policy', () => {
    const of = (metadata: ObjectMeta, deletion: Deletion) => {
      const after = planned(metadata, deletion);
      return typeof after === 'object' ? after.finalizers : after;
    };
    assert.deepEqual(of({}, { propagationPolicy: 'Orphan' }), ['orphan']);
    assert.deepEqual(of({}, { propagationPolicy: 'Foreground' }), ['foregroundDeletion']);
    assert.deepEqual(of({ finalizers }, { propagationPolicy: 'Foreground' }), [
      'example.com/hold',
      'foregroundDeletion',
    ]);
    assert.deepEqual(of({ finalizers: ['orphan'] }, {}), ['orphan'], 'what is there decides');
    assert.deepEqual(of({ finalizers: ['orphan'] }, { propagationPolicy: 'Foreground' }), [
      'foregroundDeletion',
    ]);
    assert.equal(of({ finalizers: ['orphan'] }, { propagationPolicy: 'Background' }), 'gone');
    const going = { finalizers: ['foregroundDeletion'], ...ending('2026-01-01T11:00:00Z', 0) };
    assert.deepEqual(of(going, { propagationPolicy: 'Orphan' }), ['orphan'], 'also later');
    assert.equal(of(going, { propagationPolicy: 'Foreground' }), 'unchanged');
    assert.equal(of(going, { propagationPolicy: 'Background' }), 'gone');
  });

  test('of the kind itself hold it too', () => {
    let held = true;
    const strategy = {
      isHeld: () => held,
      onTerminating: (object: ApiObject) => ({ ...object, kind: 'Told' }),
    };
    assert.equal(planDeletion({}, {}, strategy, now).act, 'store');
    held = false;
    assert.equal(planDeletion({}, {}, strategy, now).act, 'remove');
  });
});
