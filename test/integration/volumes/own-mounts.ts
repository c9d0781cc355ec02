import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../../support/index.ts';

const marker = 'NODEWARD_TEST_OWN_MOUNTS';

/**
 * Whether this process has a mount namespace of its own, where a test may mount what it likes: nothing of it is seen outside, and
 * all of it goes with the process. Otherwise the file is run once more in one, as a single test.
 */
export function hasOwnMounts(file: string): boolean {
  if (process.env[marker] !== undefined) return true;
  test('in a mount namespace of its own', async (t) => {
    if (process.geteuid?.() !== 0) return t.skip('mounting needs root');
    const { NODE_TEST_CONTEXT: _ofThisRun, ...env } = process.env;
    const argv = ['--mount', '--', process.execPath, file];
    const { code, stdout, stderr } = await runCommand('unshare', argv, {
      env: { ...env, [marker]: '1' },
      timeoutMs: 300_000,
    });
    assert.equal(code, 0, `${stdout}${stderr}`);
  });
  return false;
}
