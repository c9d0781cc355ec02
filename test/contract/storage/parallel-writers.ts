/**
 * A process to be killed: opens the store in the folder of its argument and writes with 64 writers until
 * somebody ends it. Each answered write is told on standard output before its writer goes on.
 */
import { openStore } from '../../../src/apiserver/storage/index.ts';
import { bytes, lease, listing } from './scenario.ts';
import { tell } from './tell.ts';

const [folder = ''] = process.argv.slice(2);
const store = await openStore({ kind: 'sqlite', folder, identity: { groupSuffix: 'k8s.io' } });
const present = listing(await store.listAt('', await store.revision(), '', 0)).items;
const known = new Map(present.map((item) => [item.key, item]));
tell(`ready ${await store.revision()}`);

await Promise.all(
  Array.from({ length: 64 }, async (_, n) => {
    const key = lease(`writer-${n}`);
    const found = known.get(key);
    let expect = found?.revision ?? 0;
    for (let count = Number(found ? new TextDecoder().decode(found.value) : 0) + 1; ; count++) {
      const outcome = await store.commit({ key, expect, value: bytes(String(count)) });
      if (!outcome.ok) {
        tell(`failed ${key} ${outcome.code}`);
        return;
      }
      expect = outcome.revision;
      tell(`done ${key} ${outcome.revision} ${count}`);
    }
  }),
);
