/** Writes 1, 2, 3 … into the state file of its first argument and tells each number that is kept. */

import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { openStateFile } from '../../../../src/base/state-file/index.ts';

const [, , path = ''] = process.argv;
const padding = 'x'.repeat(20_000); // long enough that a write takes more than one step
await using file = openStateFile({
  path,
  what: 'a count',
  parse: (members) => members,
  clock: systemClock,
  log: silentLogger(),
});
for (let count = 1; ; count += 1) {
  await file.write({ count, padding });
  process.stdout.write(`${count}\n`);
}
