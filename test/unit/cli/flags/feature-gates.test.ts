import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ExitError, exitCodes } from '../../../../src/base/index.ts';
import { checkGates } from '../../../../src/cli/flags/common-flags.ts';

describe('--feature-gates of the control plane', () => {
  test('warns of those of the reference that have no effect here, and of no others', () => {
    const warnings = checkGates({ MemoryQoS: true, WatchList: false, APIServerTracing: false });
    assert.deepEqual(
      warnings.map((warning) => /^--feature-gates: (\S+) has no effect here/.exec(warning)?.[1]),
      ['MemoryQoS', 'APIServerTracing'],
    );
    assert.deepEqual(checkGates({}), []);
  });

  test('refuses unknown and locked ones, all at once', () => {
    const refused = (error: unknown) => {
      assert.ok(error instanceof ExitError && error.exitCode === exitCodes.configuration);
      assert.match(error.message, /there is no feature gate "Nope".*cannot set feature gate DryRun to false/);
      return true;
    };
    assert.throws(() => checkGates({ Nope: true, DryRun: false, MemoryQoS: true }), refused);
  });
});
