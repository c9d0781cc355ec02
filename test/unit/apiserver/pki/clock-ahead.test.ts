/** A control plane whose wall clock jumps over the life of its certificates, and a client that checks them by the real time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeKind } from '../../../../src/api/index.ts';
import type { Clock } from '../../../../src/base/index.ts';
import { systemClock } from '../../../../src/base/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../../../src/client/index.ts';
import { waitFor } from '../../../support/index.ts';
import { startServer } from '../support/index.ts';

const monthMs = 30.4 * 24 * 3600_000;

test('wall clock thirteen months ahead: a client connects again within seconds, without a restart', async () => {
  let behindMs = 13 * monthMs;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() - behindMs };
  await using server = await startServer({ clock });
  const { url, ca, kubeconfig } = server.running;
  const asAdmin = async () => new ApiClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
  const { cert, key } = await server.issue({ organizations: ['system:masters'], now: systemClock.now() });
  await using agent = new ApiClient({ server: url, ca, cert, key });
  await assert.rejects(agent.list(nodeKind), /expired/i);

  const jumpedMs = performance.now();
  behindMs = 0;
  await waitFor('the connection', () => agent.list(nodeKind).catch(() => undefined), {
    timeoutMs: 60_000,
    intervalMs: 100,
  });
  const tookMs = performance.now() - jumpedMs;
  assert.ok(tookMs < 30_000, `${tookMs} ms`);
  await waitFor('a new kubeconfig', async () => {
    await using admin = await asAdmin();
    return await admin.list(nodeKind).catch(() => undefined);
  });
});
