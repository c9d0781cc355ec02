import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readEntries } from '../../../../src/api/apply/read-entries.ts';
import { applyConfiguration, managedFieldsCauses, trackUpdate } from '../../../../src/api/index.ts';
import { timeOf } from './play.ts';
import type { Small } from './small.ts';
import { small, smallObject } from './small.ts';

const entry = { operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' };
const update = { manager: 'u', operation: 'Update' as const, apiVersion: 'v1', subresource: '' };

function count<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

const labelsOf = (index: number, each: number) =>
  Object.fromEntries(count(each, (label) => [`f:label-${index}-${label}`, {}]));

/** Entries of as many managers, each with labels of its own. */
function managers(length: number, operation: 'Apply' | 'Update', each = 1) {
  return count(length, (index) => ({
    ...entry,
    operation,
    manager: `m-${index}`,
    time: timeOf(index),
    fieldsV1: { 'f:spec': { 'f:labels': labelsOf(index, each) } },
  }));
}

function cpuTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  return process.cpuUsage(before).user;
}

/** Ten times as much work, and what it takes to sort that; all with all would take a hundred times as long. */
function growsWithCount(work: (length: number) => void) {
  work(100); // warm
  const few = cpuTime(() => count(10, () => work(100)));
  const many = cpuTime(() => work(1000));
  assert.ok(many < 4 * few, `${many} µs against ten times ${few / 10} µs`);
}

describe('a thousand managers', () => {
  test('are read one by one', () => {
    let reads = 0;
    const given = managers(1000, 'Apply').map(({ manager, ...rest }) => ({
      ...rest,
      get manager() {
        reads++;
        return manager;
      },
    }));
    assert.equal(readEntries(given)?.length, 1000);
    assert.ok(reads < 10_000, `${reads} reads`);
  });

  test('of updates are put together in one go', () => {
    const track = (length: number) => {
      const live: Small = {
        ...smallObject({ text: '1' }),
        metadata: { managedFields: managers(1, 'Apply') },
      };
      const given = managers(length, 'Update', 40);
      const tracked = trackUpdate(small, live, smallObject({ text: '2' }), given, update, timeOf(5000)) ?? [];
      assert.equal(tracked.length, 10);
      const old = tracked.find(({ manager }) => manager === 'ancient-changes');
      const labels = Object.values(Object(old?.fieldsV1?.['f:spec'])['f:labels']);
      assert.equal(labels.length, (length - 8) * 40);
      assert.equal(old?.time, timeOf(length - 9));
    };
    growsWithCount(track);
  });

  test('who apply are put together in one go when another applies', () => {
    growsWithCount((length) => {
      const managedFields = managers(length, 'Apply', 40);
      const live: Small = { ...smallObject({ text: '1' }), metadata: { name: 'x', managedFields } };
      const writer = { ...update, operation: 'Apply' as const };
      const options = { force: false, now: timeOf(5000) };
      const applied = applyConfiguration(small, live, smallObject({ count: 1 }), writer, options);
      assert.equal(applied.metadata?.managedFields?.length, length + 1);
    });
  });

  test('are not each held against all that an update changes', () => {
    let looks = 0;
    const managedFields = managers(50, 'Apply').map(({ fieldsV1: { 'f:spec': spec }, ...rest }) => {
      const labels = new Proxy(spec['f:labels'], {
        has(target, name) {
          looks++;
          return Reflect.has(target, name);
        },
        get(target, name) {
          looks++;
          return Reflect.get(target, name);
        },
      });
      return { ...rest, fieldsV1: { 'f:spec': { 'f:labels': labels } } };
    });
    const live: Small = { ...smallObject(), metadata: { name: 'x', managedFields } };
    const labels = Object.fromEntries(count(1000, (index) => [`new-${index}`, '']));
    const tracked = trackUpdate(small, live, smallObject({ labels }), undefined, update, timeOf(100));
    assert.equal(tracked?.length, 51);
    assert.ok(looks < 50 * 50, `${looks} looks at what they own`);
  });

  test('are as many as may be', () => {
    assert.deepEqual(managedFieldsCauses(managers(1000, 'Apply')), []);
    assert.deepEqual(managedFieldsCauses(managers(1001, 'Apply')), [
      {
        reason: 'FieldValueTooMany',
        field: 'metadata.managedFields',
        message: 'Too many: 1001: must have at most 1000 items',
      },
    ]);
    assert.equal(readEntries(managers(1001, 'Apply')), undefined);
  });
});

test('a thousand spellings of an element are put together in one go', () => {
  growsWithCount((length) => {
    const spelt = count(length, (index) => [
      `k:{"name":${' '.repeat(index)}"a"}`,
      Object.fromEntries(count(40, (each) => [`f:${index}-${each}`, {}])),
    ]);
    const given = { ...entry, manager: 'a', fieldsV1: Object.fromEntries(spelt) };
    const [read] = readEntries([given]) ?? [];
    assert.equal(Object.keys(Object(read?.fieldsV1?.['k:{"name":"a"}'])).length, length * 40);
  });
});
