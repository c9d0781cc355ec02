import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigMap } from '../../../../src/api/kinds/core/config-map.ts';
import { configMapKind } from '../../../../src/api/kinds/core/config-map.ts';

const causes = (next: ConfigMap, old?: ConfigMap) =>
  configMapKind.validate(next, old).map(({ field, message }) => `${field}: ${message}`);
const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64');
const mebibyte = 1024 * 1024;

describe('a ConfigMap', () => {
  test('holds text and bytes under keys that are good names of files', () => {
    assert.deepEqual(causes({}), []);
    assert.deepEqual(causes({ data: { 'app.conf': 'a', _X: '' }, binaryData: { '.icon': 'AAAA' } }), []);
    assert.deepEqual(causes({ data: { '..': '' }, binaryData: { 'a/b': '' } }), [
      `data[..]: Invalid value: "..": must not be '..'`,
      `binaryData[a/b]: Invalid value: "a/b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name')`,
    ]);
  });

  test('has no key twice', () => {
    assert.deepEqual(causes({ data: { a: '', b: '' }, binaryData: { b: '' } }), [
      'data[b]: Invalid value: "b": duplicate of key present in binaryData',
      'binaryData[b]: Invalid value: "b": duplicate of key present in data',
    ]);
  });

  test('holds one mebibyte in all, counted in bytes', () => {
    const half = mebibyte / 2;
    assert.deepEqual(causes({ data: { a: 'ä'.repeat(half / 2) }, binaryData: { b: base64(half) } }), []);
    assert.deepEqual(causes({ data: { a: 'x'.repeat(half) }, binaryData: { b: base64(half + 1) } }), [
      '[]: Too long: may not be more than 1048576 bytes',
    ]);
  });

  test('that is immutable stays so, with its values; its metadata may change', () => {
    const old: ConfigMap = { metadata: { name: 'a' }, immutable: true, data: { a: '1', b: '2' } };
    assert.deepEqual(
      causes({ metadata: { name: 'a', labels: { c: 'd' } }, immutable: true, data: { b: '2', a: '1' } }, old),
      [],
    );
    const frozen = 'field is immutable when `immutable` is set';
    assert.deepEqual(causes({ data: { a: '3' }, binaryData: { c: '' } }, old), [
      `immutable: Forbidden: ${frozen}`,
      `data: Forbidden: ${frozen}`,
      `binaryData: Forbidden: ${frozen}`,
    ]);
    assert.deepEqual(causes({ immutable: true, data: {} }, { immutable: false, data: { a: '1' } }), []);
  });
});
