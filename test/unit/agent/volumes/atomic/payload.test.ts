import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { toTree } from '../../../../../src/agent/volumes/atomic/payload.ts';
import { payloadOf } from './support.ts';

describe('a path in a volume', () => {
  const long = 'n'.repeat(255);
  const longest = `${`${'n'.repeat(81)}/`.repeat(49)}${'n'.repeat(78)}`;
  assert.equal(longest.length, 4096);
  const deepest = `${'a/'.repeat(100)}b`;
  const refused: [path: string, message: string][] = [
    ['', 'invalid path: must not be empty: ""'],
    ['/etc/passwd', 'invalid path: must be relative path: /etc/passwd'],
    ['a/../b', "invalid path: must not contain '..': a/../b"],
    ['..', "invalid path: must not contain '..': .."],
    ['..data', "invalid path: must not start with '..': ..data"],
    ['..2026_01_02/x', "invalid path: must not start with '..': ..2026_01_02/x"],
    [`${long}n`, 'invalid path: filenames must be less than or equal to 255 characters'],
    [`a/${'ü'.repeat(128)}`, 'invalid path: filenames must be less than or equal to 255 characters'],
    [`${longest}a`, 'invalid path: must be less than or equal to 4096 characters'],
    [`a/${deepest}`, 'invalid path: must not have more than 100 folders in each other'],
    ['a\0b', 'invalid path: must not contain a zero byte'],
    ['.', 'invalid path: must name a file: .'],
    ['./', 'invalid path: must name a file: ./'],
  ];
  for (const [path, message] of refused)
    test(`${JSON.stringify(path.slice(0, 20))} is refused: ${message.slice(0, 60)}`, () =>
      assert.throws(() => toTree(payloadOf({ [path]: '' })), { message }));

  for (const path of ['...', 'a/..b', 'a..', '.a', long, longest, deepest, 'ü'.repeat(127), ' ', 'a b'])
    test(`${JSON.stringify(path.slice(0, 20))} is taken`, () =>
      assert.doesNotThrow(() => toTree(payloadOf({ [path === '...' ? 'a/...' : path]: '' }))));

  test('is cleaned, and means bytes', () => {
    const { files, folders } = toTree(payloadOf({ './a//./b/': '1', ü: '2' }));
    assert.deepEqual([...files.keys()], [Buffer.from('ü').toString('latin1')]);
    assert.deepEqual([...(folders.get('a')?.files.keys() ?? [])], ['b']);
  });

  test('cannot be a file and a folder', () => {
    const message = /^invalid path: a part of it would be a file and a folder at once: a/;
    assert.throws(() => toTree(payloadOf({ a: '', 'a/b': '' })), { message });
    assert.throws(() => toTree(payloadOf({ 'a/b': '', a: '' })), { message });
    assert.throws(() => toTree(payloadOf({ 'a/b': '', 'a/b/c': '' })), { message });
  });
});
