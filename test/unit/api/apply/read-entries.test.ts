import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readEntries } from '../../../../src/api/apply/read-entries.ts';
import { managedFieldsCauses, managerCauses } from '../../../../src/api/index.ts';

const entry = { manager: 'a', operation: 'Apply', apiVersion: 'v1', fieldsType: 'FieldsV1' };

/** The set of an entry as it is kept. */
function read(fieldsV1: Record<string, unknown>) {
  return readEntries([{ ...entry, fieldsV1 }])?.[0]?.fieldsV1;
}

describe('a set that a client sends', () => {
  test('is kept in the one notation that is used here', () => {
    const sent = {
      'f:b': {},
      'k:{"b": 1, "a":"x"}': { 'f:y': {}, '.': {} },
      'v:"\\u0078"': {},
      'f:a': { '.': {} },
    };
    const kept = read(sent);
    assert.deepEqual(kept, {
      'f:a': {},
      'f:b': {},
      'k:{"a":"x","b":1}': { '.': {}, 'f:y': {} },
      'v:"x"': {},
    });
    assert.deepEqual(Object.keys(kept ?? {}), ['f:a', 'f:b', 'k:{"a":"x","b":1}', 'v:"x"']);
  });
  test('may hold elements of a kind that is not known yet; they are passed over', () => {
    assert.deepEqual(read({ 'f:a': {}, 'x:1': { 'f:b': {} } }), { 'f:a': {} });
  });
  test('may be the whole object, which nobody can own', () => {
    assert.deepEqual(read({ '.': {}, 'f:a': {} }), { 'f:a': {} });
  });
  test('joins elements that are the same', () => {
    const sent = { 'k:{"a":1,"b":2}': { 'f:x': {} }, 'k:{"b":2,"a":1}': { 'f:y': {} } };
    assert.deepEqual(read(sent), { 'k:{"a":1,"b":2}': { 'f:x': {}, 'f:y': {} } });
  });

  for (const [what, fields] of Object.entries({
    'an element without a kind': { a: {} },
    'a key that is no JSON': { 'k:nonsense': {} },
    'a key that is no object': { 'k:"x"': {} },
    'a value that is no JSON': { 'v:': {} },
    'an index that is no number': { 'i:x': {} },
    'an element that leads to a scalar': { 'f:a': 1 },
    'an element that leads to null': { 'f:a': null },
    'more levels than any type has': deep(101),
  })) {
    test(`cannot hold ${what}`, () => assert.equal(readEntries([{ ...entry, fieldsV1: fields }]), undefined));
  }
});

function deep(levels: number): Record<string, unknown> {
  return levels === 0 ? {} : { 'f:a': deep(levels - 1) };
}

describe('entries that a client sends', () => {
  test('must say operation, version and type of fields', () => {
    for (const field of ['operation', 'apiVersion', 'fieldsType'] as const) {
      const { [field]: _, ...incomplete } = { ...entry, fieldsV1: { 'f:a': {} } };
      assert.equal(readEntries([incomplete]), undefined, field);
    }
  });
  test('are dropped when they own nothing', () => {
    assert.deepEqual(readEntries([entry, { ...entry, manager: 'b', fieldsV1: {} }]), []);
  });
  test('of one manager are one, the last', () => {
    const entries = readEntries([
      { ...entry, fieldsV1: { 'f:a': {} } },
      { ...entry, apiVersion: 'v2', fieldsV1: { 'f:b': {} } },
      { ...entry, operation: 'Update', fieldsV1: { 'f:c': {} } },
      { ...entry, operation: 'Update', apiVersion: 'v2', fieldsV1: { 'f:d': {} } },
    ]);
    assert.deepEqual(
      entries?.map(({ fieldsV1 }) => Object.keys(fieldsV1 ?? {})),
      [['f:b'], ['f:c'], ['f:d']],
    );
  });
  test('of nobody by name are one too, and not of a manager called unknown', () => {
    const { manager: _, ...unnamed } = entry;
    const entries = readEntries([
      { ...entry, manager: 'unknown', fieldsV1: { 'f:a': {} } },
      { ...unnamed, fieldsV1: { 'f:b': {} } },
      { ...entry, manager: '', fieldsV1: { 'f:c': {} } },
    ]);
    assert.deepEqual(
      entries?.map(({ fieldsV1 }) => Object.keys(fieldsV1 ?? {})),
      [['f:c'], ['f:a']],
    );
  });
});

describe('what is wrong with managedFields is told', () => {
  const told = (wrong: Record<string, string>) =>
    managedFieldsCauses([{ ...entry, ...wrong }]).map(({ field, message }) => `${field}: ${message}`);

  test('nothing is', () => assert.deepEqual(told({}), []));
  test('an operation that is missing or unknown', () => {
    assert.deepEqual(told({ operation: '' }), [
      'metadata.managedFields[0].operation: Required value: must not be empty',
    ]);
    assert.deepEqual(told({ operation: 'Steal' }), [
      'metadata.managedFields[0].operation: Unsupported value: "Steal": supported values: "Apply", "Update"',
    ]);
  });
  test('fields of another type', () => {
    assert.deepEqual(told({ fieldsType: 'FieldsV2' }), [
      'metadata.managedFields[0].fieldsType: Invalid value: "FieldsV2": must be `FieldsV1`',
    ]);
  });
  test('names that are too long', () => {
    assert.deepEqual(told({ manager: 'x'.repeat(129), subresource: 'x'.repeat(257) }), [
      'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
      'metadata.managedFields[0].subresource: Too long: may not be more than 256 bytes',
    ]);
  });
  test('names that cannot be printed', () => {
    assert.deepEqual(
      managerCauses('ä\nb', 'fieldManager').map(({ message }) => message),
      ['Invalid value: "ä\\nb": invalid character U+000A (at position 2)'],
    );
  });
});
