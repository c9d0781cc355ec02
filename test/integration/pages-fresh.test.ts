/** README.md and how-to pages, block by block as they are pasted on a fresh Debian 12 and 13, as root and as another user. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder } from '../support/index.ts';
import { blocksOf } from '../support/page-commands.ts';
import { repository } from './lab/index.ts';
import { deviations, notRead } from './pages/deviations.ts';
import type { FreshMachine } from './pages/fresh-machine.ts';
import { bootFreshMachine } from './pages/fresh-machine.ts';
import { makeOrigin } from './pages/origin.ts';
import { deviationsOf, PageStory, readPage } from './pages/page-story.ts';

/** What root reads after README.md; these work on the machine that it leaves. */
const forRoot = ['docs/how-to/change-the-authority.md', 'docs/how-to/rotate-certificates.md'];
/** It has sudo where root is needed. */
const forUser = 'docs/how-to/upgrade.md';
const read = ['README.md', ...forRoot, forUser];

test('every how-to page is read here, or has a reason why not', async () => {
  const found = (await readdir(join(repository, 'docs/how-to'))).map((name) => `docs/how-to/${name}`);
  assert.deepEqual(new Set([...read, ...Object.keys(notRead)]), new Set(['README.md', ...found]));
});

test('every deviation is that of one block, and every block of a known kind', async () => {
  for (const page of Object.keys(deviations)) assert.ok(read.includes(page), page);
  for (const page of read) {
    const blocks = blocksOf(await readPage(page));
    const used = blocks.flatMap((block) => deviationsOf(page, block));
    assert.equal(new Set(used).size, used.length, `${page}: two blocks have the same deviation`);
    assert.equal(used.length, Object.keys(deviations[page] ?? {}).length, `${page}: a block is gone`);
    for (const block of blocks) {
      assert.ok(deviationsOf(page, block).length <= 1, `${page}:${block.line} has two deviations`);
      assert.ok(['sh', ''].includes(block.language), `${page}:${block.line} is of no known kind`);
    }
  }
});

describe('pasted on a fresh machine', { concurrency: true }, () => {
  let folder: TemporaryFolder;
  let origin: string;
  before(async () => {
    folder = await temporaryFolder('pages-');
    origin = join(folder.path, 'origin');
    await makeOrigin(origin);
  });
  after(() => folder?.[Symbol.asyncDispose]());

  for (const release of ['bookworm', 'trixie'] as const) {
    describe(release, { concurrency: 1 }, () => {
      const stack = new AsyncDisposableStack();
      let root: FreshMachine;
      let me: FreshMachine;

      before(async () => {
        root = stack.use(await bootFreshMachine({ release, person: 'root', origin }));
        me = stack.use(await bootFreshMachine({ release, person: 'me', origin }));
      });
      after(() => stack.disposeAsync());

      for (const page of ['README.md', ...forRoot]) {
        test(`${page}, as root`, () => new PageStory(page, root).run());
      }

      test('README.md, as a user without npm, who is told how to install it', async () => {
        await me.newShell();
        const { code, stderr } = await me.run('scripts/up');
        const [, command] = /npm is missing; install it with: (.*)\n/.exec(stderr) ?? [];
        assert.ok(code === 1 && command !== undefined, stderr);
        assert.equal((await me.run(command)).code, 0);
        await new PageStory('README.md', me).run();
      });
      test(`${forUser}, as that user`, () => new PageStory(forUser, me).run());
    });
  }
});
