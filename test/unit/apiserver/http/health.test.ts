import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { reportHealth } from '../../../../src/apiserver/http/health.ts';

const well = { name: 'ping', check: () => undefined };
const ill = { name: 'storage', check: async () => 'cannot read /secret/path' };

describe('health', () => {
  test('all is well: a word, or a line for each check', async () => {
    assert.equal((await reportHealth('readyz', [well], false)).text, 'ok');
    assert.equal((await reportHealth('readyz', [well], true)).text, '[+]ping ok\nreadyz check passed\n');
  });

  test('what is to be noted stands behind what is well, when all is asked for', async () => {
    const noted = { name: 'storage', check: () => undefined, note: () => 'restored' };
    assert.equal((await reportHealth('readyz', [noted], false)).text, 'ok');
    assert.match(
      (await reportHealth('readyz', [noted, well], true)).text,
      /^\[\+\]storage ok: restored\n\[\+\]ping ok\n/,
    );
    const quiet = { ...noted, note: () => undefined };
    assert.match((await reportHealth('readyz', [quiet], true)).text, /^\[\+\]storage ok\n/);
    const failing = { ...noted, check: () => 'broken' };
    assert.match(
      (await reportHealth('readyz', [failing], true)).text,
      /^\[-\]storage failed: reason withheld\n/,
    );
  });

  test('a failure is told to all, its reason to the log only', async () => {
    const { ok, text, failures } = await reportHealth('livez', [well, ill], false);
    assert.equal(ok, false);
    assert.equal(text, '[+]ping ok\n[-]storage failed: reason withheld\nlivez check failed\n');
    assert.deepEqual(failures, { storage: 'cannot read /secret/path' });
  });
});
