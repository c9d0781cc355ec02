import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, systemClock } from '../../../../src/base/index.ts';
import { openStateFile } from '../../../../src/base/state-file/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import type { Random } from '../../../support/repetition.ts';
import { below, rounds, withSeed } from '../../../support/repetition.ts';

const kills = rounds({ usual: 4, full: 8 });

test('a writer that is killed at any moment leaves the state it told of, or the one after it', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  await withSeed(async (random) => {
    for (let round = 0; round < kills; round += 1) {
      const told = await countUntilKilled(path, random);
      await using file = openStateFile({
        path,
        what: 'a count',
        parse: ({ count }) => ({ count: Number(count) }),
        clock: systemClock,
        log: silentLogger(),
      });
      const found = await file.read();
      assert.equal(found.state, 'value');
      const { count } = found.state === 'value' ? found.value : { count: -1 };
      assert.ok(count === told || count === told + 1, `${told} was told and ${count} is there`);
      assert.deepEqual(await readdir(folder.path), ['state'], 'a draft is left');
    }
  });
});

/** Ends it in the middle of some write. Returns the last number that it told. */
async function countUntilKilled(path: string, random: Random): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'counting-child.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const killAfterMs = random() * 4;
  const endAt = 1 + below(15, random);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > endAt) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  await once(child, 'close');
  const numbers = output.split('\n').slice(0, -1).map(Number);
  return numbers.at(-1) ?? 0;
}
