import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { itemElement, sortElements } from '../../../../src/api/apply/element.ts';
import { formatStep } from '../../../../src/api/apply/format-paths.ts';
import { bool, field, int32, list, required, string, struct } from '../../../../src/api/schema/index.ts';

const port = struct('Port', {
  port: required(1, int32, ''),
  protocol: field(2, string, '', { default: 'TCP' }),
  name: field(3, string, ''),
});
const byPort = itemElement(list(port, { list: 'map', keys: ['protocol', 'port'] }));
const byName = itemElement(list(port, { list: 'map', keys: ['name'] }));

describe('an item of a list that is a map', () => {
  test('is led to by its keys, in order of their names', () => {
    assert.equal(byPort({ protocol: 'UDP', port: 53 }), 'k:{"port":53,"protocol":"UDP"}');
  });
  test('has the default of a key that it lacks, and the zero of a required one', () => {
    assert.equal(byPort({ port: 80 }), 'k:{"port":80,"protocol":"TCP"}');
    assert.equal(byPort({}), 'k:{"port":0,"protocol":"TCP"}');
  });
  test('cannot be told from others without any key', () => {
    assert.equal(byName({ port: 80 }), undefined);
    assert.equal(byName(null), undefined);
    assert.equal(byName('web'), undefined);
  });
});

test('an item of a set is led to by its value', () => {
  assert.equal(itemElement(list(string, { list: 'set' }))('x'), 'v:"x"');
  assert.equal(itemElement(list(int32, { list: 'set' }))(8), 'v:8');
  assert.equal(itemElement(list(bool, { list: 'set' }))(true), 'v:true');
  assert.equal(itemElement(list(string, { list: 'set' }))({}), undefined);
});

test('characters are escaped as the reference escapes them', () => {
  const element = itemElement(list(string, { list: 'set' }));
  assert.equal(element('a "b"'), 'v:"a \\"b\\""');
  assert.equal(element('<&>'), 'v:"\\u003c\\u0026\\u003e"');
  assert.equal(element('\u2028'), 'v:"\\u2028"');
  assert.equal(element('ü'), 'v:"ü"');
});

test('elements come in the order of their UTF-8 bytes', () => {
  // U+1F600 is written as two units below U+FF01, but in bytes it is above it
  assert.deepEqual(sortElements(['f:\u{1f600}', 'f:\uff01', 'f:b', 'f:ä', 'f:a', 'f:\u{1f600}a']), [
    'f:a',
    'f:b',
    'f:ä',
    'f:\uff01',
    'f:\u{1f600}',
    'f:\u{1f600}a',
  ]);
  const values = ['v:"\u{1f600}"', 'k:{"n":"\u{1f600}"}', 'v:"\uff01"', 'k:{"n":"\uff01"}', 'f:a'];
  assert.deepEqual(sortElements(values), [
    'f:a',
    'k:{"n":"\uff01"}',
    'k:{"n":"\u{1f600}"}',
    'v:"\uff01"',
    'v:"\u{1f600}"',
  ]);
});

test('a path shows elements as people write them', () => {
  assert.equal(formatStep('f:example.com/a'), '.example.com/a');
  assert.equal(formatStep('k:{"port":80,"protocol":"TCP"}'), '[port=80,protocol="TCP"]');
  assert.equal(formatStep('v:"\\u0026"'), '[="&"]');
  assert.equal(formatStep('i:3'), '[3]');
  assert.equal(formatStep('k:nonsense'), '[nonsense]');
});
