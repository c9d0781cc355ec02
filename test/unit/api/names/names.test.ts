import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { NameRule } from '../../../../src/api/names/index.ts';
import {
  checkDataKey,
  checkFinalizerName,
  checkLabelValue,
  checkName,
  checkNamePrefix,
  checkQualifiedName,
} from '../../../../src/api/names/index.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

function allows(rule: NameRule, ...names: string[]): void {
  for (const name of names) assert.equal(checkName(rule, name), undefined, name);
}

function forbids(rule: NameRule, ...names: string[]): void {
  for (const name of names) assert.equal(typeof checkName(rule, name), 'string', JSON.stringify(name));
}

const label63 = 'a'.repeat(63);

describe('names', () => {
  test('as RFC 1123 subdomains', () => {
    allows('subdomain', 'a', '1', 'a-b', 'a.b', '10.0.0.1', 'x--y', `${label63}.${label63}`, 'a'.repeat(253));
    forbids(
      'subdomain',
      '',
      'A',
      'a_b',
      '-a',
      'a-',
      '.a',
      'a.',
      'a..b',
      'a.-b',
      'a/b',
      'ä',
      'a b',
      'a\n',
      'a'.repeat(254),
    );
  });

  test('as RFC 1123 labels', () => {
    allows('label', 'a', '1', 'kube-system', label63);
    forbids('label', '', 'a.b', 'A', '-a', 'a-', `${label63}a`, 'a\n');
  });

  test('as path segments', () => {
    allows('pathSegment', 'system:node:a', 'A B', '...', 'ä', 'a'.repeat(300));
    forbids('pathSegment', '.', '..', 'a/b', '100%');
  });
});

test('a prefix of a name may end in a dash, but is none that no name could follow', () => {
  for (const prefix of ['a-', 'a.b-', 'a'])
    assert.equal(checkNamePrefix('subdomain', prefix), undefined, prefix);
  for (const prefix of ['-', 'A-', 'a/', '.'])
    assert.equal(typeof checkNamePrefix('subdomain', prefix), 'string', prefix);
  for (const prefix of ['.', '..', 'system:', 'A-'])
    assert.equal(checkNamePrefix('pathSegment', prefix), undefined, prefix);
  for (const prefix of ['a/', '%'])
    assert.equal(typeof checkNamePrefix('pathSegment', prefix), 'string', prefix);
});

test('keys of values can be names of files and no way out of a folder', () => {
  for (const key of ['a', 'A.b', '.dockercfg', '_', '-', 'x'.repeat(253)])
    assert.equal(checkDataKey(key), undefined, key);
  for (const key of ['', '.', '..', '..a', 'a/b', 'a b', 'ä', 'a\n', 'x'.repeat(254)]) {
    assert.equal(typeof checkDataKey(key), 'string', JSON.stringify(key));
  }
  assert.equal(checkDataKey('..data'), "must not start with '..'");
});

test('finalizers belong to a domain, but for three that everybody knows', () => {
  for (const name of ['example.com/a', 'orphan', 'foregroundDeletion', 'kubernetes'])
    assert.equal(checkFinalizerName(name), undefined, name);
  assert.equal(
    checkFinalizerName('mine'),
    'name is neither a standard finalizer name nor is it fully qualified',
  );
  assert.match(checkFinalizerName('not ok') ?? '', /^name part must consist of/);
});

test('keys of labels are a name with an optional domain before it', () => {
  const good = ['a', 'A_b.c-d', '0', 'kubernetes.io/hostname', 'a.b/C', label63, `${'a'.repeat(253)}/b`];
  for (const key of good) assert.equal(checkQualifiedName(key), undefined, key);
  const bad = [
    '',
    '/a',
    'a/',
    'a/b/c',
    'A/b',
    '-a',
    'a-',
    '_a',
    'a b',
    'ä',
    `${label63}a`,
    `${'a'.repeat(254)}/b`,
  ];
  for (const key of [...bad, 'a\n', '__proto__', 'constructor/']) {
    assert.equal(typeof checkQualifiedName(key), 'string', JSON.stringify(key));
  }
  assert.match(checkQualifiedName('A/b') ?? '', /^prefix part a lowercase RFC 1123 subdomain/);
});

test('values of labels may be empty', () => {
  for (const value of ['', 'a', '0', 'A.b_c-d', label63])
    assert.equal(checkLabelValue(value), undefined, value);
  for (const value of ['-a', 'a-', '.', 'a b', 'a/b', 'ä', `${label63}a`, ' ', 'a\n']) {
    assert.equal(typeof checkLabelValue(value), 'string', JSON.stringify(value));
  }
});

test('a name of megabytes is refused in a moment', () => {
  const long = 'a'.repeat(3_000_000);
  const tookMs = cpuMsOf(() => {
    for (const rule of ['subdomain', 'label'] as const)
      forbids(rule, long, `${long}!`, `${'a.'.repeat(1_000_000)}`);
    assert.ok(
      checkQualifiedName(`${long}!`) &&
        checkQualifiedName('/'.repeat(1_000_000)) &&
        checkLabelValue(`${long}!`),
    );
  });
  assert.ok(tookMs < 1000, `${tookMs} ms`);
});
