import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ApplyConflictError, applyConfiguration, PatchError, podKind } from '../../../../src/api/index.ts';
import { timeOf } from './play.ts';
import type { Small } from './small.ts';
import { small, smallObject } from './small.ts';

function apply(
  live: Small | undefined,
  by: string,
  spec: Record<string, unknown>,
  step: number,
  force = false,
): Small {
  const writer = { manager: by, operation: 'Apply' as const, apiVersion: 'v1', subresource: '' };
  return applyConfiguration(small, live, smallObject(spec), writer, { force, now: timeOf(step) });
}

function refusal(attempt: () => unknown): ApplyConflictError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof ApplyConflictError) return error;
    throw error;
  }
  throw new assert.AssertionError({ message: 'it was not refused' });
}

describe('a conflict', () => {
  test('names the manager and the field', () => {
    const live = apply(undefined, 'a', { text: '1' }, 1);
    const { message, causes, conflicts } = refusal(() => apply(live, 'b', { text: '2' }, 2));
    assert.equal(message, 'Apply failed with 1 conflict: conflict with "a": .spec.text');
    assert.deepEqual(causes, [
      { reason: 'FieldManagerConflict', message: 'conflict with "a"', field: '.spec.text' },
    ]);
    const by = { manager: 'a', operation: 'Apply', apiVersion: 'v1', subresource: '' };
    assert.deepEqual(conflicts, [{ ...by, fields: ['.spec.text'] }]);
  });

  test('tells the first hundred fields of many, and how many there are', () => {
    const labels = (value: string, count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`l-${1000 + index}`, value]));
    const first = apply(undefined, 'a', { labels: labels('1', 70) }, 1);
    const live = apply(first, 'b', { labels: labels('1', 500) }, 2);
    const { message, causes, conflicts } = refusal(() => apply(live, 'c', { labels: labels('2', 500) }, 3));
    assert.deepEqual(
      conflicts.map(({ manager, fields }) => `${manager}: ${fields.length}`),
      ['a: 70', 'b: 500'],
    );
    const told = ['a', 'b'].map(
      (name) => causes.filter(({ message: why }) => why.endsWith(`"${name}"`)).length,
    );
    assert.deepEqual(told, [70, 30]);
    const lines = message.split('\n');
    assert.equal(lines[0], 'Apply failed with 570 conflicts: conflicts with "a":');
    assert.equal(lines.at(-2), '- .spec.labels.l-1029');
    assert.equal(lines.at(-1), 'and 470 more');
    assert.equal(lines.length, 1 + 70 + 1 + 30 + 1);
  });

  test('tells the version of those who update, and the subresource', () => {
    const entry = {
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:spec': { 'f:text': {} } },
    };
    const managedFields = [
      { ...entry, manager: 'u' },
      {
        ...entry,
        manager: 's',
        subresource: 'status',
        fieldsV1: { 'f:spec': { 'f:count': {}, 'f:set': { 'v:"x"': {} } } },
      },
    ];
    const live = { ...smallObject({ text: '1', count: 1 }), metadata: { name: 'x', managedFields } };
    const { message } = refusal(() => apply(live, 'b', { text: '2', count: 2, set: ['x'] }, 2));
    const lines = [
      'Apply failed with 3 conflicts: conflicts with "s" with subresource "status" using v1:',
      '- .spec.count',
      '- .spec.set[="x"]',
      'conflicts with "u" using v1:',
      '- .spec.text',
    ];
    assert.equal(message, lines.join('\n'));
  });

  test('changes nothing; forced, the fields change hands', () => {
    const live = apply(undefined, 'a', { text: '1', count: 1 }, 1);
    const before = structuredClone(live);
    refusal(() => apply(live, 'b', { text: '2' }, 2));
    assert.deepEqual(live, before);
    const forced = apply(live, 'b', { text: '2' }, 3, true);
    assert.deepEqual(forced.spec, { text: '2', count: 1 });
    assert.deepEqual(apply(forced, 'a', { count: 1 }, 4), forced, 'nobody takes from the other any more');
  });

  test('is one too where a zero would take a field away', () => {
    const live = apply(undefined, 'a', { text: '1' }, 1);
    assert.equal(refusal(() => apply(live, 'b', { text: '' }, 2)).causes.length, 1);
    assert.deepEqual(apply(live, 'b', { text: '' }, 2, true).spec, {});
  });
});

describe('an apply', () => {
  test('of the same, or of what others have said, changes nothing but who has said it', () => {
    const first = apply(undefined, 'a', { text: '1', items: [{ name: 'i', ports: [{ number: 1 }] }] }, 1);
    assert.equal(apply(first, 'a', { text: '1', items: [{ name: 'i', ports: [{ number: 1 }] }] }, 2), first);
    const shared = apply(first, 'b', { text: '1' }, 3);
    assert.deepEqual(shared.spec, first.spec);
    assert.equal(shared.metadata?.managedFields?.length, 2);
    assert.equal(apply(shared, 'b', { text: '1' }, 4), shared);
  });

  test('that only puts items in another order is a change', () => {
    const first = apply(undefined, 'a', { set: ['x', 'y'] }, 1);
    const second = apply(first, 'a', { set: ['y', 'x'] }, 2);
    assert.deepEqual(second.spec, { set: ['y', 'x'] });
    assert.equal(second.metadata?.managedFields?.[0]?.time, timeOf(2));
  });

  test('keeps an object that it leaves empty, and that another has', () => {
    const first = apply(undefined, 'a', { tree: { text: '1' } }, 1);
    assert.deepEqual(apply(first, 'a', { tree: {} }, 2).spec, { tree: {} });
    const shared = apply(first, 'b', { tree: { below: {} } }, 2);
    assert.deepEqual(apply(shared, 'a', {}, 3).spec, { tree: { below: {} } });
  });

  test('of nothing at all leaves name and kind', () => {
    const first = apply(undefined, 'a', { text: '1' }, 1);
    const emptied = apply(first, 'a', {}, 2);
    assert.deepEqual({ ...emptied, metadata: { name: 'x' } }, smallObject());
  });

  test('may change version and uid of nobody', () => {
    const live = { ...apply(undefined, 'a', { text: '1' }, 1) };
    live.metadata = { ...live.metadata, resourceVersion: '7', uid: 'u' };
    const configuration = smallObject({ text: '1' });
    configuration.metadata = { name: 'x', resourceVersion: '6' };
    const writer = { manager: 'a', operation: 'Apply' as const, apiVersion: 'v1', subresource: '' };
    const result = applyConfiguration(small, live, configuration, writer, { force: false, now: timeOf(2) });
    assert.equal(result.metadata?.resourceVersion, '6', 'for the caller to compare');
    assert.equal(result.metadata?.uid, 'u');
    assert.deepEqual(result.metadata?.managedFields?.[0]?.fieldsV1, { 'f:spec': { 'f:text': {} } });
  });

  test('leaves what another version has noted, and takes nothing away for it', () => {
    const live = apply(undefined, 'a', { text: '1', count: 1 }, 1);
    const [entry] = live.metadata?.managedFields ?? [];
    live.metadata = { name: 'x', managedFields: [{ ...entry, apiVersion: 'v0' }] };
    const result = apply(live, 'a', { text: '1' }, 2);
    assert.deepEqual(result.spec, { text: '1', count: 1 });
    assert.deepEqual(
      result.metadata?.managedFields?.map(({ apiVersion }) => apiVersion),
      ['v1'],
    );
  });
});

describe('a configuration is refused', () => {
  const refused = (spec: Record<string, unknown>, message: string) =>
    assert.throws(
      () => apply(undefined, 'a', spec, 1),
      (error) => error instanceof PatchError && error.reason === 'failed' && error.message === message,
    );

  test('when an item comes twice', () => {
    refused({ set: ['x', 'y', 'x'] }, '.spec.set: duplicate entries for key [="x"]');
    const ports = [{ number: 1 }, { number: 1, protocol: 'TCP' }];
    refused(
      { items: [{ name: 'i', ports }] },
      '.spec.items[name="i"].ports: duplicate entries for key [number=1,protocol="TCP"]',
    );
  });

  test('when nothing tells an item from others', () => {
    const pod = { metadata: { name: 'x' }, spec: { containers: [], hostAliases: [null] } };
    const writer = { manager: 'a', operation: 'Apply' as const, apiVersion: 'v1', subresource: '' };
    assert.throws(
      () =>
        applyConfiguration<object>(podKind.root, undefined, pod, writer, { force: false, now: timeOf(1) }),
      { reason: 'failed', message: '.spec.hostAliases: element 0: the item omits all key fields (ip)' },
    );
  });
});

describe('what kubectl has applied at the client', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const owned = { 'f:spec': { 'f:text': {}, 'f:count': {} } };
  const entry = {
    manager: 'kubectl-client-side-apply',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: owned,
  };
  const live = (applied: Small): Small => ({
    ...smallObject({ text: '1', count: 1 }),
    metadata: {
      name: 'x',
      annotations: { [annotation]: JSON.stringify(applied), a: '1' },
      managedFields: [entry],
    },
  });

  test('is no conflict as long as nobody has changed it, and the annotation goes on', () => {
    const result = apply(live(smallObject({ text: '1' })), 'kubectl', { text: '2' }, 2);
    assert.deepEqual(result.spec, { text: '2', count: 1 });
    assert.deepEqual(
      JSON.parse(result.metadata?.annotations?.[annotation] ?? ''),
      smallObject({ text: '2' }),
    );
    assert.equal(apply(result, 'kubectl', { text: '2' }, 3), result);
  });
  test('is a conflict where it is another value, or another manager applies', () => {
    assert.equal(
      refusal(() => apply(live(smallObject({ text: '0' })), 'kubectl', { text: '2' }, 2)).causes.length,
      1,
    );
    assert.equal(
      refusal(() => apply(live(smallObject({ text: '1' })), 'argo', { text: '2' }, 2)).causes.length,
      1,
    );
  });
  test('forgives only its own fields; the others are told', () => {
    const { causes } = refusal(() =>
      apply(live(smallObject({ text: '1' })), 'kubectl', { text: '2', count: 2 }, 2),
    );
    assert.deepEqual(
      causes.map(({ field }) => field),
      ['.spec.count'],
    );
  });
  test('forgives nothing when it is of another type or has doubles', () => {
    for (const spec of [{ text: 1 }, { text: '1', unknown: 1 }, { text: '1', set: ['x', 'x'] }])
      refusal(() => apply(live(smallObject(spec)), 'kubectl', { text: '2' }, 2));
  });
  test('is forgotten when there is no room for it', () => {
    const large = apply(live(smallObject({ text: '1' })), 'kubectl', { text: '2'.repeat(256 * 1024) }, 2);
    assert.deepEqual(large.metadata?.annotations, { a: '1' });
  });
});
