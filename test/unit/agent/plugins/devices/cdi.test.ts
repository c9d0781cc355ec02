import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findCdiFault } from '../../../../../src/agent/plugins/devices/cdi.ts';

describe('a fully qualified CDI device name', () => {
  test('is a vendor, a class and a device', () => {
    for (const id of [
      'vendor.com/class=device',
      'nvidia.com/gpu=0',
      'k8s.gpu.nvidia.com/claim=a-1:b',
      'a/b=c',
      'v/c=a.b_c',
      'v/c.d-e=a',
    ])
      assert.equal(findCdiFault(id), undefined, id);
  });

  test('is refused in any other form', () => {
    const broken = [
      '',
      '=',
      '/',
      'a/b',
      'a=c',
      '/b=c',
      'a/=c',
      'a/b=',
      'a/b/c=d',
      'a/b=c=d',
      '1a/b=c',
      'a/b=-c',
    ];
    const evil = ['a/b=c\n', 'a/b=../c', 'a-/b=c', 'a/b=c d', 'a\0/b=c', `a/b=${'c'.repeat(600)}`];
    for (const id of [...broken, ...evil]) assert.ok(findCdiFault(id), JSON.stringify(id));
  });
});
