/**
 * A process whose writes to the disk are recorded: opens a store of an old format in the folder of its first argument,
 * forgets some history, gives room back, which writes such a store anew, and tells in the file of its second argument
 * how far it is.
 */
import { openSync, writeSync } from 'node:fs';
import { openSqlite } from '../../../src/apiserver/storage/index.ts';

const [folder = '', answers = ''] = process.argv.slice(2);
const told = openSync(answers, 'a');
const tell = (what: string) => writeSync(told, `${what}\n`);

await using store = await openSqlite({ folder, identity: { groupSuffix: 'k8s.io' } });
tell('opened');
const written = await store.commit({ key: '/registry/written', expect: 0, value: Buffer.from('written') });
if (!written.ok) throw new Error(`a write was not accepted: ${written.code}`);
tell('written');
await store.compact(8);
await store.run('defrag');
tell('defragmented');
