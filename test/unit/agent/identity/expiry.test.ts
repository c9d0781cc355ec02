import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ServingCredentials } from '../../../../src/agent/identity/index.ts';
import { watchExpiry } from '../../../../src/agent/identity/index.ts';
import { createLatest, createMetrics } from '../../../../src/base/index.ts';
import type { ClientOptions } from '../../../../src/client/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { createTestAuthority, dayMs } from './pki.ts';

const start = createManualClock().now();
const authority = await createTestAuthority('cluster', start);
const issue = (lifetimeMs: number) =>
  authority.issue('system:node:a', ['system:nodes'], 'client', { now: start, lifetimeMs });
const month = await issue(30 * dayMs);
const year = await issue(365 * dayMs);

function watch() {
  const clock = createManualClock();
  const { log, text } = recordedLog();
  const metrics = createMetrics();
  const identity = { api: createLatest<ClientOptions>(), serving: createLatest<ServingCredentials>() };
  const use = (pair: typeof month) =>
    identity.api.set({ server: 'https://192.0.2.1', ca: authority.ca, ...pair });
  return { clock, text, metrics, identity, use, ...watchExpiry({ identity, clock, log, metrics }) };
}

describe('a certificate near its end', () => {
  test('is told while it is, logged and counted once, and no more once it is renewed', async () => {
    const { clock, text, metrics, use, remarks } = watch();
    assert.deepEqual(remarks(), []);
    use(month);
    await clock.advance(26 * dayMs);
    assert.deepEqual(remarks(), []);
    await clock.advance(2 * dayMs);
    for (let look = 0; look < 3; look += 1)
      assert.match(
        remarks().join(),
        /^the client certificate ends at 2025-01-31T.* and has not been renewed$/,
      );
    await clock.advance(3 * dayMs);
    assert.match(remarks().join(), /^the client certificate ended at 2025-01-31T/);
    assert.equal(text().match(/the client certificate/g)?.length, 2);
    const counted = await metrics.getSingleMetricAsString('nodeward_certificate_troubles_total');
    assert.match(counted, /certificate="client"\} 2/);
    use(year);
    assert.deepEqual(remarks(), []);
    const ends = await metrics.getSingleMetricAsString('nodeward_certificate_expiration_timestamp_seconds');
    assert.match(ends, /certificate="client"\} \d{10}/);
  });

  test('of a long life is told 30 days before', async () => {
    const { clock, use, remarks } = watch();
    use(year);
    await clock.advance(334 * dayMs);
    assert.deepEqual(remarks(), []);
    await clock.advance(2 * dayMs);
    assert.equal(remarks().length, 1);
  });

  test('or that has not begun, as where the clock is behind, is told so', async () => {
    const { clock, identity, remarks } = watch();
    identity.serving.set({ pair: month, clientCa: authority.ca });
    clock.setWall(-2 * dayMs);
    assert.match(remarks().join(), /^the serving certificate is valid only from .*: is the clock right\?$/);
  });
});
