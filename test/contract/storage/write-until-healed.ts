/**
 * Writes until the database file itself has met the limit of its process and the store cannot be opened again,
 * says so, and goes on until it is healed. Tells what was acknowledged.
 */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Outcome } from '../../../src/apiserver/storage/index.ts';
import { createCache, openStore } from '../../../src/apiserver/storage/index.ts';
import { bytes, lease } from './scenario.ts';

const [folder = ''] = process.argv.slice(2);
const store = await createCache(
  await openStore({ kind: 'sqlite', folder, identity: { groupSuffix: 'k8s.io' } }),
);

const acknowledged = new Map<string, string>();
let revision = 0;
let refused = 0;
let n = 0;
while (refused < 3) if ((await write()) === 'unavailable') refused++;
const cached = store.list(lease(''), '', 0).items.length;
assert.ok(cached >= acknowledged.size, 'the cache goes on');
await assert.rejects(store.listAt('', store.applied, '', 0), { code: 'unavailable' });
console.log('broken');

for (const started = performance.now(); performance.now() - started < 30_000; await delay(20)) {
  if ((await write()) === 'ok') break;
}
// What was answered `unknown` may be there as well: told by the cache, which heard it from the store.
for (const { key } of store.list(lease(''), '', 0).items)
  if (!acknowledged.has(key)) acknowledged.set(key, 'x'.repeat(2_000));
assert.equal(store.list(lease(''), '', 0).items.length, acknowledged.size);
const state = [...acknowledged].map(([key, text]) => `${key}=${text}`).toSorted();
await store.close();
console.log(JSON.stringify({ state, revision }));

async function write(): Promise<string> {
  const key = lease(`k${String(n++).padStart(6, '0')}`);
  const outcome: Outcome = await store.commit({ key, expect: 0, value: bytes('x'.repeat(2_000)) });
  if (!outcome.ok) return outcome.code;
  acknowledged.set(key, 'x'.repeat(2_000));
  revision = outcome.revision;
  return 'ok';
}
