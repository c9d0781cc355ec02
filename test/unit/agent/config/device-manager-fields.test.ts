import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { deviceManager } from '../../../../src/agent/config/fields.ts';
import { defaultOf } from '../../../../src/agent/config/layers.ts';
import { defaultOrigin, locate } from '../../../../src/agent/config/located.ts';

const deviceManagerSettings = (section: unknown) =>
  deviceManager.read(section === undefined ? undefined : locate(section, defaultOrigin));
const deviceManagerDefaults = defaultOf(deviceManager, false);
const deviceManagerRules = deviceManager.fields;

describe('the section deviceManager', () => {
  test('comes to its defaults where nothing is stated', () => {
    const expected = { kubeletPaths: false, kubeletDir: '/var/lib/kubelet', graceMs: 300_000 };
    assert.deepEqual(deviceManagerSettings(undefined), expected);
    assert.deepEqual(deviceManagerSettings(deviceManagerDefaults), expected);
  });

  test('is taken as stated', () => {
    const stated = { kubeletPaths: true, kubeletDir: '/var/snap/kubelet', gracePeriod: '90s' };
    assert.deepEqual(deviceManagerSettings(stated), {
      kubeletPaths: true,
      kubeletDir: '/var/snap/kubelet',
      graceMs: 90_000,
    });
  });

  for (const [field, value, why] of [
    ['kubeletDir', 'var/lib/kubelet', /is no absolute path/],
    ['kubeletDir', `/${'x'.repeat(79)}`, /must have at most 79 bytes: sockets are made below it/],
    ['gracePeriod', '-1s', /from 0s to 24h/],
    ['gracePeriod', '25h', /from 0s to 24h/],
  ] as const) {
    test(`refuses ${field} ${value.slice(0, 20)}`, () => {
      assert.match(deviceManagerRules[field].check?.(value) ?? '', why);
    });
  }

  test('takes the longest folder in which every socket has its place', () => {
    const longest = `/${'x'.repeat(78)}`;
    assert.equal(deviceManagerRules.kubeletDir.check?.(longest), undefined);
    assert.equal(Buffer.byteLength(`${longest}/device-plugins/kubelet.sock`), 107);
  });
});
