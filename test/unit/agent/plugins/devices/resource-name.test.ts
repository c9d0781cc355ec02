import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findResourceNameFault } from '../../../../../src/agent/plugins/devices/resource-name.ts';

describe('the name of an extended resource', () => {
  for (const name of ['vendor.example/gpu', 'a/b', 'smarter-devices/video0', 'x.io/A_b.c-1']) {
    test(`may be ${name}`, () => assert.equal(findResourceNameFault(name), undefined));
  }

  for (const [name, why] of [
    ['', /has a domain/],
    ['cpu', /has a domain/],
    ['kubernetes.io/gpu', /kubernetes\.io/],
    ['my.kubernetes.io/gpu', /kubernetes\.io/],
    ['requests.vendor.example/gpu', /must not begin/],
    ['vendor.example/', /name part/],
    ['/gpu', /prefix part/],
    ['vendor.example/a/b', /at most one prefix/],
    ['Vendor.example/gpu', /prefix part/],
    ['vendor.example/-gpu', /name part/],
    [`vendor.example/${'x'.repeat(64)}`, /no more than 63/],
    // 253 characters are allowed, 9 of them are for the quota's name
    [`${'a.'.repeat(122)}aa/gpu`, /prefix part/],
  ] as const) {
    test(`cannot be ${JSON.stringify(name.slice(0, 40))}`, () =>
      assert.match(findResourceNameFault(name) ?? '', why));
  }

  test('may be as long as its quota allows', () => {
    assert.equal(findResourceNameFault(`${'a.'.repeat(121)}aa/gpu`), undefined);
  });
});
