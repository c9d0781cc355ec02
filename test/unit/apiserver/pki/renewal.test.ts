import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pki } from '../../../../src/apiserver/pki/index.ts';
import { fileKeys, pkiRenewal } from '../../../../src/apiserver/pki/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { findFault } from '../../../../src/base/x509/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const hourMs = 3600_000;
const dayMs = 24 * hourMs;

test('a control plane that runs for a year renews its certificates in time, and says so once', async () => {
  await using folder = await temporaryFolder();
  const clock = createManualClock();
  const keys = fileKeys({
    rootDir: folder.path,
    serverNames: ['127.0.0.1'],
    clock,
    log: silentLogger(),
  });
  const pki = await keys.pki();
  const renewed: Pki[] = [];
  const stop = new AbortController();
  const service = pkiRenewal({ keys, clock, pki, onRenewed: async (now) => void renewed.push(now) });
  const running = service.run(stop.signal, () => undefined);

  await clock.advance(3 * hourMs);
  await waitFor('the service to sleep again', () => clock.sleepers === 1);
  assert.equal(renewed.length, 0);

  clock.setWall(300 * dayMs);
  await clock.advance(hourMs);
  await waitFor('the renewal', () => renewed.length > 0 && clock.sleepers === 1);
  await clock.advance(hourMs);
  await waitFor('the service to sleep again', () => clock.sleepers === 1);
  assert.equal(renewed.length, 1);
  const [now] = renewed;
  assert.notEqual(now?.serving.cert, pki.serving.cert);
  assert.equal(now?.authority.cert, pki.authority.cert);
  const expected = { authority: pki.authority.cert, minLeft: 0.9, now: clock.now() };
  assert.equal(now && findFault(now.serving, expected), undefined);
  assert.equal(now && findFault(now.admin, expected), undefined);

  stop.abort();
  await running;
});

/** A service on its own keys, `clock` and folder. */
async function serviceOn(rootDir: string, clock: Clock) {
  const keys = fileKeys({ rootDir, serverNames: ['127.0.0.1'], clock, log: silentLogger() });
  const state = { checks: 0, renewed: [] as Pki[], failure: undefined as Error | undefined };
  const counted = {
    pki() {
      state.checks += 1;
      if (state.failure !== undefined) throw state.failure;
      return keys.pki();
    },
  };
  const pki = await keys.pki();
  const onRenewed = async (now: Pki) => void state.renewed.push(now);
  return { state, service: pkiRenewal({ keys: counted, clock, pki, onRenewed }) };
}

test('wall clock thirteen months ahead: the expired certificates are renewed within seconds, once', async () => {
  await using folder = await temporaryFolder();
  const clock = createManualClock();
  const { state, service } = await serviceOn(folder.path, clock);
  const stop = new AbortController();
  const running = service.run(stop.signal, () => undefined);
  await clock.advance(60_000);
  assert.equal(state.checks, 0);

  clock.setWall(395 * dayMs);
  await clock.advance(6000);
  await waitFor('the renewal', () => state.renewed.length > 0 && clock.sleepers === 1);
  const [now] = state.renewed;
  for (const leaf of ['serving', 'admin', 'agentClient'] as const)
    assert.equal(now && findFault(now[leaf], { minLeft: 0.9, now: clock.now() }), undefined, leaf);
  await clock.advance(60_000);
  assert.equal(state.checks, 1, 'what is renewed is not looked at again');
  stop.abort();
  await running;
});

test('a renewal that fails is tried again every five minutes, not every few seconds', async () => {
  await using folder = await temporaryFolder();
  const clock = createManualClock();
  const { state, service } = await serviceOn(folder.path, clock);
  state.failure = new Error('the disk is full');
  clock.setWall(395 * dayMs);
  const stop = new AbortController();
  for (const checks of [1, 2, 3]) {
    const running = service.run(stop.signal, () => undefined);
    await Promise.all([assert.rejects(running, /the disk is full/), clock.advance(301_000)]);
    assert.equal(state.checks, checks);
  }
  state.failure = undefined;
  const running = service.run(stop.signal, () => undefined);
  await clock.advance(301_000);
  await waitFor('the renewal', () => state.renewed.length === 1);
  stop.abort();
  await running;
});
