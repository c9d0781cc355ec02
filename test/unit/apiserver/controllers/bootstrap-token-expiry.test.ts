import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { bootstrapSecret, bootstrapSecrets } from '../support/bootstrap.ts';
import { fastClock, startServer } from '../support/index.ts';

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
