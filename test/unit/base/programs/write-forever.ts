import { writeFileAtomic } from '../../../../src/base/index.ts';

/** Replaces one file again and again by a line of one letter, each time the next one, until it is killed. */
const [, , path = ''] = process.argv;
const length = 256 * 1024;
for (let round = 0; ; round++) {
  await writeFileAtomic(path, String.fromCharCode(65 + (round % 26)).repeat(length));
  if (round === 2) console.log('writing');
}
