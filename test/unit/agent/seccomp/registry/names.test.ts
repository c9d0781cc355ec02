import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isProfileName, normalizeProfilePath } from '../../../../../src/agent/seccomp/registry/file-names.ts';
import { isTruncatedJson } from '../../../../../src/agent/seccomp/registry/truncated-json.ts';

test('whatever path a pod names, what is looked for lies in the folder', () => {
  const part = fc.constantFrom('..', '.', '', 'a', 'b.json', '...', ' ', '\0', '..a');
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const normal = normalizeProfilePath(parts.join('/'));
      if (normal === undefined) return;
      assert.ok(!normal.startsWith('/') && !normal.split('/').includes('..') && normal !== '');
      assert.equal(normalizeProfilePath(normal), normal);
    }),
  );
  assert.equal(normalizeProfilePath('./a//b.json'), 'a/b.json');
  assert.equal(normalizeProfilePath('a/../b.json'), undefined);
});

test('profiles are told from other files by their names', () => {
  for (const name of ['a.json', 'sub/a.json', 'a b.json']) assert.ok(isProfileName(name), name);
  for (const name of ['a', 'a.json~', '.a.json', '..data/a.json', 'a.json.tmp', '#a.json#', '.json'])
    assert.ok(!isProfileName(name), name);
});

test('every beginning of a JSON document is seen to have ended early, and no whole one', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, cut) => {
      const whole = Buffer.from(JSON.stringify(value));
      assert.ok(!isTruncatedJson(whole));
      assert.ok(isTruncatedJson(whole.subarray(0, cut % whole.length)));
    }),
  );
});
