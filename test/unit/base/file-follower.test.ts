import assert from 'node:assert/strict';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createFileFollower } from '../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../support/index.ts';
import { createManualClock } from '../../support/manual-clock.ts';

/** Follows a file that can be used unless it says "bad"; `isNamed`: the follower knows which file it is. */
async function follow(folder: string, isNamed: boolean) {
  const path = join(folder, 'file');
  await writeFile(path, 'first');
  const taken: string[] = [];
  const problems: string[] = [];
  const clock = createManualClock();
  let looks = 0;
  const service = createFileFollower({
    name: 'follower',
    intervalMs: 1000,
    clock,
    async reread() {
      looks += 1;
      const text = await readFile(path, 'utf8');
      if (text.startsWith('bad')) throw new Error(text);
      taken.push(text);
    },
    ...(isNamed ? { files: () => [path] } : {}),
    onProblem: (problem) => problems.push(problem),
  });
  const stop = new AbortController();
  const ended = service.run(stop.signal, () => undefined);
  return {
    async write(text: string) {
      await writeFile(`${path}.new`, text);
      await rename(`${path}.new`, path);
    },
    taken,
    problems,
    looks: () => looks,
    until: (what: string, condition: () => boolean) =>
      waitFor(what, async () => {
        await clock.advance(1000);
        return condition();
      }),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

describe('a file follower', () => {
  test('takes what the file says after a change, and reports what cannot be used once', async () => {
    await using folder = await temporaryFolder();
    await using follower = await follow(folder.path, true);
    await follower.until('the first look', () => follower.taken.length === 1);
    await follower.write('bad one');
    await follower.until('some looks more', () => follower.looks() >= 4);
    assert.deepEqual(follower.problems, ['bad one']);
    await follower.write('bad again');
    await follower.until('another problem', () => follower.problems.length === 2);
    await follower.write('second');
    await follower.until('the change', () => follower.taken.length === 2);
    await follower.write('bad again');
    await follower.until('the problem that is back', () => follower.problems.length === 3);
    assert.deepEqual(follower.taken, ['first', 'second']);
  });

  test('that knows the files looks at once: they may have changed since they were read first', async () => {
    await using folder = await temporaryFolder();
    await using follower = await follow(folder.path, true);
    await waitFor('the first look', () => follower.taken.length === 1); // the clock stands still
  });

  test('looks only after a change where it knows the files, and each time elsewhere', async () => {
    await using folder = await temporaryFolder();
    await using other = await temporaryFolder();
    await using named = await follow(folder.path, true);
    await using unnamed = await follow(other.path, false);
    await named.until('the first look', () => named.looks() === 1);
    for (let round = 0; round < 5; round += 1) {
      const before = unnamed.looks();
      await named.until('time to pass', () => true);
      await unnamed.until('the next look', () => unnamed.looks() > before);
    }
    assert.equal(named.looks(), 1);
  });
});
