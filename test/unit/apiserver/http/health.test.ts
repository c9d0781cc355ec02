import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HealthQuery } from '../../../../src/apiserver/http/health.ts';
import { reportHealth } from '../../../../src/apiserver/http/health.ts';
import type { ApiTester } from '../support/index.ts';
import { startServer } from '../support/index.ts';

const quiet: HealthQuery = { verbose: false, exclude: [], mayKnowWhy: async () => false };
const verbose: HealthQuery = { ...quiet, verbose: true };
const well = { name: 'ping', check: () => undefined };
const ill = { name: 'storage', check: async () => 'cannot read /secret/path' };

describe('health', () => {
  test('all is well: a word, or a line for each check', async () => {
    assert.equal((await reportHealth('readyz', [well], quiet)).text, 'ok');
    assert.equal((await reportHealth('readyz', [well], verbose)).text, '[+]ping ok\nreadyz check passed\n');
  });

  test('what is to be noted stands behind what is well, when all is asked for', async () => {
    const noted = { name: 'storage', check: () => undefined, note: () => 'restored' };
    assert.equal((await reportHealth('readyz', [noted], quiet)).text, 'ok');
    assert.match(
      (await reportHealth('readyz', [noted, well], verbose)).text,
      /^\[\+\]storage ok: restored\n\[\+\]ping ok\n/,
    );
    const noteless = { ...noted, note: () => undefined };
    assert.match((await reportHealth('readyz', [noteless], verbose)).text, /^\[\+\]storage ok\n/);
    const failing = { ...noted, check: () => 'broken' };
    assert.match(
      (await reportHealth('readyz', [failing], verbose)).text,
      /^\[-\]storage failed: reason withheld\n/,
    );
  });

  test('a failure is told to all, its reason to the log only', async () => {
    const { ok, text, failures } = await reportHealth('livez', [well, ill], quiet);
    assert.equal(ok, false);
    assert.equal(text, '[+]ping ok\n[-]storage failed: reason withheld\nlivez check failed\n');
    assert.deepEqual(failures, { storage: 'cannot read /secret/path' });
  });

  test('excluded checks are not run, and listed as excluded; unknown ones are warned of', async () => {
    let runs = 0;
    const counted = { name: 'ping', check: () => void runs++ };
    const exclude = ['ping', 'storage', 'nothing', 'nothing', 'a'];
    const report = await reportHealth('readyz', [counted, ill], { ...verbose, exclude });
    assert.equal(
      report.text,
      '[+]ping excluded: ok\n[+]storage excluded: ok\n' +
        'warn: some health checks cannot be excluded: no matches for "a","nothing"\nreadyz check passed\n',
    );
    assert.equal(runs, 0);
    assert.equal((await reportHealth('readyz', [counted, ill], { ...quiet, exclude })).text, 'ok');
    assert.equal((await reportHealth('readyz', [counted, ill], { ...quiet, exclude: ['ping'] })).ok, false);
  });
});

describe('the reason of a failed check', () => {
  test('is told to whoever may know it', async () => {
    const failure = 'the store has no room left on its disk';
    const mayKnowWhy = async () => true;
    const full = { name: 'storage-writes', check: () => failure };
    const { text } = await reportHealth('readyz', [well, full], { ...quiet, mayKnowWhy });
    assert.equal(text, `[+]ping ok\n[-]storage-writes failed: ${failure}\nreadyz check failed\n`);
  });
});

describe('the health of a server', () => {
  test('?exclude= leaves checks out', async () => {
    await using server = await startServer();
    const { text } = await server.nobody.request('GET', '/readyz?verbose&exclude=ping&exclude=x');
    assert.match(text, /^\[\+\]ping excluded: ok$/m);
    assert.match(text, /^warn: some health checks cannot be excluded: no matches for "x"$/m);
  });

  test('?verbose: an authenticated administrator is told the reason of a failed check, nobody else is', async () => {
    let isBroken = false;
    await using server = await startServer({
      wrapStore: (store) =>
        new Proxy(store, {
          get(target, property) {
            if (isBroken && property === 'revision') return () => Promise.reject(new Error('it is broken'));
            const value: unknown = Reflect.get(target, property);
            return typeof value === 'function' ? value.bind(target) : value;
          },
        }),
    });
    isBroken = true;
    const told = async (who: ApiTester) => {
      const { code, text } = await who.request('GET', '/readyz?verbose');
      assert.equal(code, 500, text);
      return /^\[-\]storage failed: (.*)$/m.exec(text)?.[1];
    };
    assert.equal(await told(server.admin), 'it is broken');
    for (const who of [server.stranger, server.nobody]) assert.equal(await told(who), 'reason withheld');
    isBroken = false;
  });
});
