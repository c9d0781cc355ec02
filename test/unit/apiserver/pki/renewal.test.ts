import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pki } from '../../../../src/apiserver/pki/index.ts';
import { fileKeys, pkiRenewal } from '../../../../src/apiserver/pki/index.ts';
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
