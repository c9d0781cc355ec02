import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Command } from 'commander';
import { exitCodes } from '../../../../src/base/index.ts';
import type { NodeLifecycleFlags } from '../../../../src/cli/flags/node-lifecycle-flags.ts';
import {
  nodeLifecycleOptions,
  readNodeLifecycleFlags,
} from '../../../../src/cli/flags/node-lifecycle-flags.ts';
import { runCommandLine } from '../run-command.ts';

function parse(args: readonly string[]): NodeLifecycleFlags {
  const command = new Command().exitOverride();
  for (const option of nodeLifecycleOptions()) command.addOption(option);
  return command.parse(args, { from: 'user' }).opts<NodeLifecycleFlags & Record<string, unknown>>();
}

describe('the flags of the node lifecycle', () => {
  test('are as in the reference when they are not given', () => {
    assert.deepEqual(readNodeLifecycleFlags({ ...parse([]), taintDomain: 'example.org' }), {
      taintDomain: 'example.org',
      gracePeriodMs: 40_000,
      monitorPeriodMs: 5_000,
      evictionRate: 0.1,
      secondaryEvictionRate: 0.01,
      unhealthyZoneThreshold: 0.55,
      largeZoneSize: 50,
      terminatedPodThreshold: 12_500,
    });
  });

  for (const wrong of [
    'node-monitor-grace-period=40',
    'node-monitor-grace-period=25h',
    'node-monitor-period=0s',
    'node-eviction-rate=-1',
    'node-eviction-rate=1e3',
    'node-eviction-rate=1001',
    'unhealthy-zone-threshold=1.1',
    'large-cluster-size-threshold=',
    'terminated-pod-gc-threshold=1.5',
    'node-monitor-period=40s', // nobody would look in time
  ]) {
    test(`--${wrong} is refused`, async () => {
      const { code, stderr } = await runCommandLine(['apiserver', `--${wrong}`]);
      assert.equal(code, exitCodes.usage, stderr);
      assert.match(stderr, /node-|unhealthy-|large-|terminated-/);
    });
  }
});
