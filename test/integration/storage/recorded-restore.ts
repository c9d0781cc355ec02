/**
 * A process whose writes to the disk are recorded: makes the store in the folder of its first argument from objects of
 * its own, and tells in the file of its second argument when that is done.
 */
import { openSync, writeSync } from 'node:fs';
import { restoreStore } from '../../../src/apiserver/storage/index.ts';
import { restoredObjects, restoring } from './restored-objects.ts';

const [folder = '', answers = ''] = process.argv.slice(2);
const told = openSync(answers, 'a');

await restoreStore({ folder, ...restoring, objects: restoredObjects('restored', 1_200) });
writeSync(told, 'restored\n');
