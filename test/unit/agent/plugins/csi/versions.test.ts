import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { chooseVersion, compareVersions } from '../../../../../src/agent/plugins/csi/versions.ts';

describe('the version of CSI that is used', () => {
  test('is the highest 1.x, in whatever order the driver names them', () => {
    assert.equal(chooseVersion(['1.2.0', '1.10.0', '1.9.3']), '1.10.0');
    assert.equal(chooseVersion(['0.3.0', 'v1.0.0', '2.0.0']), 'v1.0.0');
    assert.equal(chooseVersion(['1.9.0-rc1', 'nonsense']), '1.9.0-rc1');
  });

  test('is none where a driver has 0.x only, and the driver is told so', () => {
    assert.throws(
      () => chooseVersion(['0.3.0', '0.2.0']),
      /CSI 0\.x is not supported any more .*"0\.3\.0", "0\.2\.0"/,
    );
  });

  test('is none where a driver has 2.x only, or nothing that is a version', () => {
    for (const named of [['2.0.0'], ['one'], [], ['1'.repeat(20)], ['1.2.3.4.5']]) {
      assert.throws(() => chooseVersion(named), /none of the versions that the driver names is supported/);
    }
  });

  test('is compared by numbers, and a missing part is zero', () => {
    assert.ok(compareVersions('1.2', '1.10') < 0);
    assert.equal(compareVersions('1.2', 'v1.2.0'), 0);
    assert.ok(compareVersions('1.2.1', '1.2') > 0);
  });
});
