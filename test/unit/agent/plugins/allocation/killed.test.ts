import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../../support/index.ts';
import type { Random } from '../../../../support/repetition.ts';
import { below, withSeed } from '../../../../support/repetition.ts';
import { heldOnDisk } from './support.ts';

test('whoever was told its devices has them after a kill at any moment, and nobody else has', async () => {
  await using folder = await temporaryFolder();
  const told: string[] = [];
  await withSeed(async (random) => {
    for (let round = 0; round < 4; round += 1) {
      told.push(...(await allocateUntilKilled(folder.path, round, random)));
      const held = await heldOnDisk(folder.path);
      const missing = told.filter((line) => !held.includes(line));
      assert.deepEqual(missing, []);
      const ids = held.map((line) => line.split(' ').at(-1));
      assert.equal(new Set(ids).size, ids.length);
    }
  });
  assert.ok(told.length > 10, `only ${told.length} were given`);
});

/** Returns the lines that it told before it was killed. */
async function allocateUntilKilled(rootDir: string, round: number, random: Random): Promise<string[]> {
  const script = join(import.meta.dirname, 'allocating-child.ts');
  const child = spawn(process.execPath, [script, rootDir, String(round)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const killAfterMs = random() * 4;
  const endAt = 5 + below(15, random);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (output.split('\n').length > endAt) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  await once(child, 'close');
  return output.split('\n').slice(0, -1);
}
