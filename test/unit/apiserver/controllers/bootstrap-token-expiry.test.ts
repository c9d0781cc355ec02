import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namespaceKind, secretKind } from '../../../../src/api/index.ts';
import { controlPlaneUser } from '../../../../src/apiserver/authn/index.ts';
import { bootstrapTokenExpiry } from '../../../../src/apiserver/controllers/index.ts';
import { createRegistry } from '../../../../src/apiserver/registry/index.ts';
import { createCache, openStore } from '../../../../src/apiserver/storage/index.ts';
import { waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { recordedLog } from '../../base/recorded-log.ts';
import { bootstrapSecret, bootstrapSecrets } from '../support/bootstrap.ts';
import { fastClock, startServer } from '../support/index.ts';
import { interleavedStore } from './interleaved-store.ts';

test('tokens that have expired are removed, and no others', async () => {
  const secret = '0123456789abcdef';
  await using server = await startServer({ clock: fastClock(100) });
  const make = (id: string, change: Record<string, string>) =>
    server.admin.must('POST', bootstrapSecrets, bootstrapSecret(id, secret, change));
  await make('lasting', {}); // its id is too long: not a token at all
  await make('noend0', {});
  await make('ahead0', { expiration: '2999-01-01T00:00:00Z' });
  await make('oddend', { expiration: 'yesterday' });
  await make('ended0', { expiration: '2001-01-01T00:00:00Z' });
  const names = await waitFor('the token to be removed', async () => {
    const found = (await server.admin.list(bootstrapSecrets)).map(({ metadata }) => metadata.name);
    return found.includes('bootstrap-token-ended0') ? undefined : found;
  });
  assert.deepEqual(names.sort(), [
    'bootstrap-token-ahead0',
    'bootstrap-token-lasting',
    'bootstrap-token-noend0',
    'bootstrap-token-oddend',
  ]);
  assert.doesNotMatch(server.logged(), new RegExp(secret));
});

test('a token that cannot be removed keeps no other, and is told of once in a round', async () => {
  const context = { user: controlPlaneUser, dryRun: false };
  const { log, text } = recordedLog('json', 'warn');
  const clock = createManualClock();
  await using storage = await createCache(await openStore({ kind: 'memory', clock }), { clock });
  const registryOn = (seen: typeof storage) =>
    createRegistry({ storage: seen, clock, groupSuffix: 'k8s.io', admission: [] });
  const registry = registryOn(storage);
  const secrets = registry.of(secretKind);
  await registry.of(namespaceKind).create('', { metadata: { name: 'kube-system' } }, context);
  for (const id of ['stuck0', 'stuck1', 'zsound']) {
    const secret = bootstrapSecret(id, '0123456789abcdef', { expiration: '1969-01-01T00:00:00Z' });
    await secrets.create('kube-system', secret, context);
  }
  const seen = interleavedStore(storage, ({ key, value }) => {
    if (value === null && key.includes('-stuck')) throw new Error('the disk is odd');
  });
  const stop = new AbortController();
  const options = { registry: registryOn(seen), storage: seen, clock, log };
  const ready = Promise.withResolvers<void>();
  const running = bootstrapTokenExpiry(options).run(stop.signal, ready.resolve);
  await ready.promise;
  await waitFor('the end of the round', () => clock.sleepers > 0 && text() !== '', { intervalMs: 1 });
  stop.abort();
  await running;
  const left = storage.list(secrets.prefix('kube-system'), '', 0).items.map(({ key }) => key.slice(-6));
  assert.deepEqual(left, ['stuck0', 'stuck1']);
  assert.equal(text().trim().split('\n').length, 1);
  assert.match(text(), /2 of their Secrets, first bootstrap-token-stuck0: the disk is odd/);
});
