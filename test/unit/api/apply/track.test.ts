import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatPaths } from '../../../../src/api/apply/format-paths.ts';
import type { ObjectMeta } from '../../../../src/api/index.ts';
import { trackUpdate } from '../../../../src/api/index.ts';
import { timeOf } from './play.ts';
import type { Small } from './small.ts';
import { small, smallObject } from './small.ts';

type Managers = ObjectMeta['managedFields'];

function writer(manager: string, more: { apiVersion?: string; subresource?: string } = {}) {
  return { manager, operation: 'Update' as const, apiVersion: 'v1', subresource: '', ...more };
}

/** Writes one after another, each with a time of its own. */
class Story {
  live: Small | undefined;
  #step = 0;

  write(by: ReturnType<typeof writer>, spec: Record<string, unknown>, given?: Managers): Managers {
    const next = smallObject(spec);
    const managedFields = trackUpdate(small, this.live, next, given, by, timeOf(++this.#step));
    this.live = { ...next, metadata: { name: 'x', uid: 'u', ...(managedFields && { managedFields }) } };
    return managedFields;
  }

  /** `manager@step: fields` of every entry. */
  get managers(): string[] {
    return (this.live?.metadata?.managedFields ?? []).map(({ manager, time = '', fieldsV1 }) => {
      const step = (Date.parse(time) - Date.parse(timeOf(0))) / 1000;
      return `${manager}@${step}: ${formatPaths(fieldsV1).join(' ')}`;
    });
  }
}

describe('updates', () => {
  test('own what they add and change; time is when that last was', () => {
    const story = new Story();
    story.write(writer('a'), { text: '1', count: 1 });
    story.write(writer('b'), { text: '2', count: 1 });
    assert.deepEqual(story.managers, ['a@1: .spec.count', 'b@2: .spec.text']);
    story.write(writer('a'), { text: '2', count: 2 });
    assert.deepEqual(story.managers, ['b@2: .spec.text', 'a@3: .spec.count']);
  });

  test('that change nothing leave the very same entries', () => {
    const story = new Story();
    const first = story.write(writer('a'), { text: '1' });
    assert.equal(story.write(writer('b'), { text: '1' }), first);
  });

  test('that only take away own nothing new, and keep the time', () => {
    const story = new Story();
    story.write(writer('a'), { text: '1', count: 1, tree: { below: { text: '1' } } });
    story.write(writer('a'), { count: 1 });
    assert.deepEqual(story.managers, ['a@1: .spec.count']);
    story.write(writer('b'), {});
    assert.deepEqual(story.managers, []);
  });

  test('by the same name through a subresource or in another version are by another manager', () => {
    const story = new Story();
    story.write(writer('a'), { text: '1' });
    story.write(writer('a', { subresource: 'status' }), { text: '1', count: 1 });
    story.write(writer('a', { apiVersion: 'v2' }), { text: '1', count: 1, set: ['x'] });
    assert.deepEqual(story.managers, [
      'a@1: .spec.text',
      'a@2: .spec.count',
      'a@3: .spec.set .spec.set[="x"]',
    ]);
  });

  test('by nobody are by somebody unknown', () => {
    const story = new Story();
    story.write(writer(''), { text: '1' });
    story.write(writer(''), { text: '2' });
    assert.deepEqual(story.managers, ['unknown@2: .spec.text']);
  });

  test('leave alone what entries say about fields that the type has no more, until fields change hands', () => {
    const story = new Story();
    const stored = [{ ...entry('old', { 'f:spec': { 'f:lost': {}, 'f:text': {} } }), time: timeOf(0) }];
    story.live = { ...smallObject({ text: '1' }), metadata: { name: 'x', uid: 'u', managedFields: stored } };
    story.write(writer('a'), { text: '1', count: 1 });
    assert.deepEqual(story.managers, ['old@0: .spec.text', 'a@1: .spec.count']);
  });
});

function entry(manager: string, fieldsV1: Record<string, unknown>) {
  return { manager, operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 };
}

describe('managers that a client sends', () => {
  const sent = [entry('c', { 'f:spec': { 'f:text': {} } })];

  test('take the place of those there, before the change counts', () => {
    const story = new Story();
    story.write(writer('a'), { text: '1', count: 1 });
    story.write(writer('b'), { text: '1', count: 2 }, sent);
    assert.deepEqual(story.managers, ['c@NaN: .spec.text', 'b@2: .spec.count']);
  });

  test('are of no account when they are those there, or cannot be read, or come through a subresource', () => {
    for (const [given, through] of [
      [undefined, ''],
      [[{ ...sent[0], operation: 'Steal' }], ''],
      [sent, 'status'],
    ] as const) {
      const story = new Story();
      const first = story.write(writer('a'), { text: '1' });
      story.write(writer('a', { subresource: through }), { text: '1' }, given && [...given]);
      assert.equal(story.live?.metadata?.managedFields, first);
    }
    const story = new Story();
    const first = story.write(writer('a'), { text: '1' });
    assert.equal(story.write(writer('a'), { text: '1' }, structuredClone(first)), first);
  });

  test('can be none: then nobody manages anything any more, later updates neither', () => {
    for (const none of [[], [{}]]) {
      const story = new Story();
      story.write(writer('a'), { text: '1' });
      story.write(writer('a'), { text: '2' }, none);
      story.write(writer('b'), { text: '3' });
      assert.deepEqual(story.managers, []);
    }
  });

  test('can be none for a new object, whose fields are its maker’s all the same', () => {
    const story = new Story();
    story.write(writer('a'), { text: '1' }, []);
    assert.deepEqual(story.managers, ['a@1: .spec.text']);
  });
});

describe('of more than ten updates', () => {
  test('the oldest are put together, of each version for itself', () => {
    const story = new Story();
    const spec: Record<string, string> = {};
    for (let index = 0; index < 14; index++) {
      spec[`k${index}`] = '1';
      story.write(writer(`m${index}`, { apiVersion: index % 2 === 0 ? 'v1' : 'v2' }), {
        labels: { ...spec },
      });
    }
    const versions = story.live?.metadata?.managedFields?.map(
      ({ manager, apiVersion }) => `${manager} ${apiVersion}`,
    );
    assert.equal(versions?.length, 10);
    assert.deepEqual(versions?.slice(0, 3), ['ancient-changes v1', 'ancient-changes v2', 'm6 v1']);
    assert.deepEqual(
      story.managers[0],
      'ancient-changes@5: .spec.labels .spec.labels.k0 .spec.labels.k2 .spec.labels.k4',
    );
  });

  test('all are kept when no two are of one version', () => {
    const story = new Story();
    for (let index = 0; index < 12; index++)
      story.write(writer('m', { apiVersion: `v${index}` }), { count: index + 1, text: `${index}` });
    assert.equal(story.managers.length, 1, 'each took all from the one before');
    for (let index = 0; index < 12; index++) {
      const labels = Object.fromEntries(Array.from({ length: index + 1 }, (_, key) => [`k${key}`, '1']));
      story.write(writer('n', { apiVersion: `w${index}` }), { count: 12, text: '11', labels });
    }
    assert.equal(story.managers.length, 13);
  });
});
