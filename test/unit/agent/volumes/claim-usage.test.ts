import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ToolResult, Tools } from '../../../../src/agent/volumes/tools.ts';
import { DeadlineError } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import { driverName, FakeStorage, keepers, podOf, volumeOf } from './storage-support.ts';

const open = new AbortController().signal;
const full = {
  bytes: { total: 100, available: 30, used: 70 },
  inodes: { total: 10, available: 9, used: 1 },
};
const usedClaim = { namespace: 'default', claim: 'a', ...full };

/** A claim `a` whose volume its driver tells the usage of. */
async function usageLab(run?: Tools['run']) {
  const storage = new FakeStorage();
  storage.bind('a');
  storage.driver.can.add('stats');
  storage.driver.usage = { ...full, isAbnormal: false };
  const made = await keepers(storage, run === undefined ? {} : { run });
  return {
    ...{ storage, made },
    looks: () => storage.driver.calls.filter((call) => call.startsWith('stats')).length,
    /** Lets time pass until that is so: what is on the disk is read meanwhile. */
    until: (what: string, isSo: () => boolean) =>
      waitFor(what, async () => {
        if (!isSo()) await made.clock.advance(5000);
        return isSo();
      }),
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}

describe('how full the volume of a claim is', () => {
  test('is asked of its driver, and told once however many pods have it, until they are gone', async () => {
    await using lab = await usageLab();
    const keeper = lab.made.start();
    await keeper.claimed.setUp(volumeOf(podOf('a')), open);
    await keeper.claimed.setUp(volumeOf(podOf('a', 'u2')), open);
    await lab.made.clock.advance(59_000);
    assert.deepEqual([keeper.used(), lab.looks()], [[], 0]);
    await lab.until('both to be asked', () => lab.looks() === 2 && keeper.used().length > 0);
    assert.deepEqual(keeper.used(), [{ ...usedClaim, isAbnormal: false }]);
    lab.storage.driver.usage = { bytes: undefined, inodes: undefined, isAbnormal: undefined };
    await lab.until('news', () => keeper.used()[0]?.bytes === undefined && keeper.used().length === 1);
    keeper.release('u1');
    await lab.until('the other pod', () => keeper.used().length === 1);
    keeper.release('u2');
    assert.deepEqual(keeper.used(), []);
    const before = lab.looks();
    await lab.made.clock.advance(600_000);
    assert.ok(lab.looks() <= before + 1, 'nothing is asked any more');
    assert.deepEqual(keeper.used(), []);
  });

  test('is known to the next agent, and not of a driver that does not tell or is gone', async () => {
    await using lab = await usageLab();
    await lab.made.start().claimed.setUp(volumeOf(podOf('a')), open);
    const next = lab.made.start();
    await next.claimed.setUp(volumeOf(podOf('a')), open);
    await lab.until('it to be known', () => next.used().length === 1);
    lab.storage.driver.can.delete('stats');
    await lab.until('nothing to be known', () => next.used().length === 0);
    lab.storage.driver.can.add('stats');
    await lab.until('it to be known', () => next.used().length === 1);
    lab.storage.drivers.deregister(driverName);
    await lab.until('nothing to be known', () => next.used().length === 0);
  });

  test('is not known after its driver failed; while that hangs the volume is given back', async () => {
    await using lab = await usageLab();
    const keeper = lab.made.start();
    await keeper.claimed.setUp(volumeOf(podOf('a')), open);
    await lab.until('it to be known', () => keeper.used().length === 1);
    lab.storage.driver.answers.set('stats', ['refused', 'done', 'hangs']);
    await lab.until('nothing to be known', () => keeper.used().length === 0);
    assert.deepEqual(lab.made.events, [], 'there is no Event of it');
    await lab.until('it to be known', () => keeper.used().length === 1);
    await lab.until('it to hang', () => lab.storage.driver.answers.get('stats')?.length === 0);
    assert.deepEqual(await keeper.csi.unpublishAll('u1', open), []);
  });

  test('of a local folder is looked at by a program; one that hangs is left in peace for ten minutes', async () => {
    const answers: (Partial<ToolResult> | Error)[] = [];
    const runs: string[] = [];
    await using lab = await usageLab(async (command, argv) => {
      const said = { code: 0, output: 'directory', errors: '' };
      if (!argv.includes('--file-system')) return said;
      runs.push([command, ...argv].join(' '));
      const answer = answers.shift() ?? {};
      if (answer instanceof Error) throw answer;
      return { ...said, output: '4096 100 70 30 10 9\n', ...answer };
    });
    lab.storage.bind('a', { csi: undefined, local: { path: '/mnt/a' } });
    const keeper = lab.made.start();
    await keeper.claimed.setUp(volumeOf(podOf('a')), open);
    await lab.until('it to be known', () => keeper.used().length === 1);
    const bytes = { total: 409_600, available: 122_880, used: 122_880 };
    assert.deepEqual(keeper.used(), [{ ...usedClaim, bytes }]);
    assert.match(runs[0] ?? '', /^stat --file-system .* -- .*\/kubernetes\.io~local-volume\/pv-a$/);
    answers.push({ code: 1, output: '', errors: 'gone' }, new DeadlineError('stat did not end'));
    await lab.until('it to hang', () => runs.length === 3);
    await lab.until('nothing to be known', () => keeper.used().length === 0);
    await lab.made.clock.advance(590_000);
    assert.equal(runs.length, 3);
    await lab.until('it to be known', () => keeper.used().length === 1);
  });
});
