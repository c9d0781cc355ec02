import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { collectFields } from '../../../../src/api/apply/collect-fields.ts';
import { formatPaths } from '../../../../src/api/apply/format-paths.ts';
import { normalizeValue } from '../../../../src/api/apply/normalize.ts';
import { pruneUnmanaged, withParentFields } from '../../../../src/api/apply/prune.ts';
import { reconcileFields } from '../../../../src/api/apply/reconcile.ts';
import { small, smallObject } from './small.ts';

const unique = { unique: true };

/** What is left of `spec` when somebody who applied `last` lets go of all, and others manage `others`. */
function left(spec: Record<string, unknown>, last: Record<string, unknown>, others: Record<string, unknown>) {
  const managed = { ...collectFields(small, smallObject(others), unique), 'f:metadata': { 'f:name': {} } };
  const result = normalizeValue(
    small,
    pruneUnmanaged(small, smallObject(spec), collectFields(small, smallObject(last), unique), managed),
  );
  return typeof result === 'object' && result !== null ? Reflect.get(result, 'spec') : undefined;
}

describe('what a manager lets go of', () => {
  test('goes, but for what others manage', () => {
    const spec = {
      text: 'a',
      labels: { a: '1', b: '1' },
      set: ['x', 'y'],
      items: [{ name: 'a' }, { name: 'b', text: '1' }],
    };
    const others = { labels: { b: '1' }, set: ['y'], items: [{ name: 'b' }] };
    assert.deepEqual(left(spec, spec, others), others);
  });
  test('leaves what was never the manager’s', () => {
    const spec = { text: 'a', count: 1, wholeMap: { a: '1' } };
    assert.deepEqual(left(spec, { text: 'a' }, { count: 1, wholeMap: { a: '1' } }), {
      count: 1,
      wholeMap: { a: '1' },
    });
  });
  test('leaves a struct that another manages, with nothing in it', () => {
    assert.deepEqual(
      left({ text: 'a', tree: { text: 'a' } }, { tree: { text: 'a' } }, { text: 'a', tree: {} }),
      {
        text: 'a',
        tree: {},
      },
    );
  });
  test('takes an item that another has only put a part into', () => {
    const spec = { text: 'a', items: [{ name: 'a', text: '1' }] };
    const managed = { 'f:spec': { 'f:text': {}, 'f:items': { 'k:{"name":"a"}': { 'f:text': {} } } } };
    const last = { 'f:spec': { 'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:name': {} } } } };
    const result = normalizeValue(
      small,
      pruneUnmanaged(small, smallObject(spec), last, { ...managed, 'f:metadata': { 'f:name': {} } }),
    );
    assert.deepEqual(result, smallObject({ text: 'a' }));
  });
});

test('fields of structs that members stand below count as members; keys of maps and items do not', () => {
  const set = {
    'f:spec': {
      'f:labels': { 'f:a': {} },
      'f:items': { 'k:{"name":"a"}': { 'f:ports': { 'f:unknown': {} } } },
    },
  };
  assert.deepEqual(formatPaths(withParentFields(small, set)).sort(), [
    '.spec',
    '.spec.items',
    '.spec.items[name="a"].ports',
    '.spec.items[name="a"].ports.unknown',
    '.spec.labels',
    '.spec.labels.a',
  ]);
});

describe('a set that was stored when the type was another', () => {
  test('loses fields that the type has no more', () => {
    const set = {
      'f:gone': {},
      'f:spec': {
        'f:text': {},
        'f:lost': { 'f:x': {} },
        'f:items': { 'k:{"name":"a"}': { '.': {}, 'f:lost': {} } },
      },
    };
    assert.deepEqual(reconcileFields(small, set), {
      'f:spec': { 'f:text': {}, 'f:items': { 'k:{"name":"a"}': {} } },
    });
    assert.equal(reconcileFields(small, { 'f:spec': { 'f:lost': {} } }), undefined);
  });
  test('owns all of what has become atomic', () => {
    const set = { 'f:spec': { 'f:wholeMap': { '.': {}, 'f:a': {} }, 'f:wholeList': { 'v:"a"': {} } } };
    assert.deepEqual(reconcileFields(small, set), { 'f:spec': { 'f:wholeMap': {}, 'f:wholeList': {} } });
  });
  test('is the very same where the type is', () => {
    const set = { 'f:spec': { 'f:labels': { '.': {}, 'f:a': {} } } };
    assert.equal(reconcileFields(small, set), set);
  });
});

test('zeros, nulls and what is empty are dropped where they say nothing', () => {
  const spec = {
    text: '',
    count: 0,
    set: [],
    labels: {},
    tree: { text: null, below: {} },
    items: [{ name: '', labels: { a: '' } }, null],
  };
  assert.deepEqual(
    normalizeValue(small, smallObject(spec)),
    smallObject({ count: 0, tree: { below: {} }, items: [{ name: '', labels: { a: '' } }, {}] }),
  );
  const clean = smallObject({ count: 0 });
  assert.equal(normalizeValue(small, clean), clean);
});
