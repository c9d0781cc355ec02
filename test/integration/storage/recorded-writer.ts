/**
 * A process whose writes to the disk are recorded: opens the store in the folder of its first argument, writes with
 * several writers, forgets history, gives room back, closes and opens again, and tells each answer in the file of its
 * second argument before that writer goes on.
 */
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MaintainedStore } from '../../../src/apiserver/storage/index.ts';
import { openSqlite } from '../../../src/apiserver/storage/index.ts';
import { contentOf, keyOf, stepsOf, writers } from './recorded-steps.ts';

const [folder = '', acknowledgements = ''] = process.argv.slice(2);
const told = openSync(acknowledgements, 'a');
const done = new Array<number>(writers).fill(0);
const revisions = new Array<number>(writers).fill(0);

for (const until of [20, 45, 70]) {
  await using store = await openSqlite({
    folder,
    identity: { groupSuffix: 'k8s.io' },
    historyBytes: 1024 ** 2,
  });
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(store, writer, until)));
  if (until === 45) await store.run('defrag');
  if (until === 70) await store.compact(await store.revision());
  if (until === 20) await sleep(1_200); // until the reserve is taken
}

async function write(store: MaintainedStore, writer: number, until: number): Promise<void> {
  for (; (done[writer] ?? 0) < until; done[writer] = (done[writer] ?? 0) + 1) {
    const step = (done[writer] ?? 0) + 1;
    const value = stepsOf(step) === 'delete' ? null : contentOf(writer, step);
    const outcome = await store.commit({ key: keyOf(writer), expect: revisions[writer] ?? 0, value });
    if (!outcome.ok) throw new Error(`writer ${writer}, step ${step}: ${outcome.code}`);
    revisions[writer] = value === null ? 0 : outcome.revision;
    writeSync(told, `${writer} ${step} ${outcome.revision}\n`);
  }
}
