/**
 * Writes one after the other in a process whose files may not grow beyond a limit (set from outside), so that
 * the log file meets an I/O error now and then. Tells, as JSON, what was answered, what a follower saw, and
 * what is in the store at the end.
 */
import type { StoreChange } from '../../../src/apiserver/storage/index.ts';
import { openStore } from '../../../src/apiserver/storage/index.ts';
import { allAt, bytes, eventually, lease } from './scenario.ts';

const [folder = '', writes = '0'] = process.argv.slice(2);
const store = await openStore({ kind: 'sqlite', folder, identity: { groupSuffix: 'k8s.io' } });
const seen: StoreChange[] = [];
const start = await store.revision();
const following = follow();

const answers: { key: string; text: string; answer: string; revision: number }[] = [];
const known = new Map<string, number>();
for (let n = 0; n < Number(writes); n++) {
  const key = lease(`k${n % 10}`);
  const text = `${n} ${'x'.repeat(1_000)}`;
  const outcome = await store.commit({ key, expect: known.get(key) ?? 0, value: bytes(text) });
  const revision = outcome.ok ? outcome.revision : 0;
  answers.push({ key, text, answer: outcome.ok ? 'ok' : outcome.code, revision });
  if (outcome.ok) known.set(key, outcome.revision);
  else if (outcome.code === 'conflict') known.set(key, outcome.now?.revision ?? 0);
}
const revision = await store.revision();
await eventually('the follower comes to the end', () => (seen.at(-1)?.revision ?? start) >= revision);
const state = await allAt(store, '', revision);
await store.close();
await following;
console.log(JSON.stringify({ answers, seen: seen.map((change) => change.revision), state }));

async function follow(): Promise<void> {
  for await (const batch of store.changes('', start, new AbortController().signal)) {
    if (typeof batch !== 'string' && !('progress' in batch)) seen.push(...batch);
  }
}
