import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Systemctl } from '../../../../src/cli/join/start.ts';
import { startUnit } from '../../../../src/cli/join/start.ts';
import { temporaryFolder } from '../../../support/index.ts';

const signal = new AbortController().signal;
const unit = 'nodeward.service';

/** A systemd whose unit has these states, one after the other; the last one stays. `asked` is what it was told to do. */
function fakeSystemd(states: readonly string[]) {
  const asked: string[] = [];
  const left = [...states];
  const control: Systemctl = async ([verb = '', ...args]) => {
    if (verb !== 'is-failed') {
      asked.push([verb, ...args].join(' '));
      return '';
    }
    const state = left.length > 1 ? left.shift() : left[0];
    const stdout = `${state}\n`;
    if (state === 'failed') return stdout;
    throw Object.assign(new Error('exit code 1'), { stdout });
  };
  return { asked, control, statesLeft: () => left.length };
}

describe('the start of the unit after a join', () => {
  test('does not block on a unit that waits for its certificate', async () => {
    const { asked, control } = fakeSystemd(['activating']);
    const start = { restart: true, credentials: '/nowhere/node.kubeconfig', timeoutMs: 500 };
    assert.equal(await startUnit(start, signal, control), false);
    assert.deepEqual(asked, [`reset-failed ${unit}`, `enable --quiet ${unit}`, `restart --no-block ${unit}`]);
  });

  test('tells at once of a unit that fails', async () => {
    const { asked, control } = fakeSystemd(['activating', 'failed']);
    const start = { restart: false, credentials: '/nowhere/node.kubeconfig', timeoutMs: 3600_000 };
    await assert.rejects(
      startUnit(start, signal, control),
      /does not start: it has failed; .*journalctl -u nodeward/,
    );
    assert.equal(asked.at(-1), `start --no-block ${unit}`);
  });

  test('ends with new credentials; with those of an earlier join once the agent is ready', async () => {
    await using folder = await temporaryFolder();
    const credentials = join(folder.path, 'node.kubeconfig');
    const first = fakeSystemd(['activating']);
    const control: Systemctl = async (args, ...more) => {
      if (args[0] === 'start') await writeFile(credentials, '');
      return await first.control(args, ...more);
    };
    const start = { credentials, timeoutMs: 3600_000 };
    assert.equal(await startUnit({ ...start, restart: false }, signal, control), true);
    const again = fakeSystemd(['deactivating', 'activating', 'active']);
    assert.equal(await startUnit({ ...start, restart: true }, signal, again.control), true);
    assert.equal(again.statesLeft(), 1, 'not before it is active');
  });

  test('says why systemd does not take the unit', async () => {
    const control: Systemctl = async ([verb]) => {
      if (verb === 'enable') throw Object.assign(new Error('exit code 1'), { stderr: 'Unit is masked.\n' });
      return '';
    };
    const start = { restart: false, credentials: '/nowhere/node.kubeconfig', timeoutMs: 1000 };
    await assert.rejects(startUnit(start, signal, control), /does not start: Unit is masked\.; /);
  });
});
