/** The commands of README.md and of the how-to pages, as they are pasted on a fresh Debian 12 and 13, as root and as another user. */
import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { runSuccessfully, temporaryFolder } from '../support/index.ts';
import { blocksOf } from '../support/page-commands.ts';
import { repository } from './lab/index.ts';
import { deviations } from './pages/deviations.ts';
import type { FreshMachine, Person } from './pages/fresh-machine.ts';
import { bootFreshMachine, connect } from './pages/fresh-machine.ts';
import { makeOrigin } from './pages/origin.ts';
import { deviationsOf, PageStory, readPage } from './pages/page-story.ts';
import type { StandInRegistry } from './pages/stand-in-registry.ts';
import { startStandInRegistry } from './pages/stand-in-registry.ts';
import { whyNoNetwork } from './two-agents-network.ts';

const howTo = (await readdir(join(repository, 'docs/how-to')))
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/how-to/${name}`)
  .sort();
/** It has sudo where root is needed. */
const forEveryone = 'docs/how-to/upgrade.md';
/** These change what other pages expect: the node's name, and where its folder is. */
const last = ['docs/how-to/remove-a-node.md', 'docs/how-to/move-the-root-folder.md'];
const inOrder = [...howTo.filter((page) => !last.includes(page)), ...last];
const administrator = 'export KUBECONFIG=/var/lib/nodeward/admin.kubeconfig';

test('every deviation is that of one block, and of its kind', async () => {
  const pages = ['README.md', ...howTo];
  for (const page of Object.keys(deviations)) assert.ok(pages.includes(page), page);
  for (const page of pages) {
    const blocks = blocksOf(await readPage(page));
    const used = blocks.flatMap((block) => deviationsOf(page, block));
    assert.deepEqual(new Set(used).size, used.length, `${page}: two blocks have the same`);
    assert.deepEqual(
      new Set(used),
      new Set(Object.values(deviations[page] ?? {})),
      `${page}: a block is gone`,
    );
    for (const block of blocks) {
      const [{ file } = {}, more] = deviationsOf(page, block);
      assert.equal(more, undefined, `${page}:${block.line} has two deviations`);
      assert.ok(
        ['sh', ''].includes(block.language) || file !== undefined,
        `${page}:${block.line} is of no known kind`,
      );
    }
  }
});

describe('pasted on a fresh machine', { skip: (await whyNoNetwork()) ?? false, concurrency: true }, () => {
  const all = new AsyncDisposableStack();
  let folder: TemporaryFolder;
  let registry: StandInRegistry;
  before(async () => {
    folder = all.use(await temporaryFolder('pages-'));
    registry = all.use(await startStandInRegistry(folder.path));
    await makeOrigin(join(folder.path, 'origin'));
  });
  after(() => all.disposeAsync());

  for (const release of ['bookworm', 'trixie'] as const) {
    describe(release, { concurrency: 1 }, () => {
      const stack = new AsyncDisposableStack();
      let root: FreshMachine;
      let me: FreshMachine;

      before(async () => {
        const between = join(folder.path, release);
        await mkdir(between);
        await runSuccessfully('truncate', ['--size=128M', join(between, 'disk')]);
        await runSuccessfully('mkfs.ext4', ['-q', join(between, 'disk')]);
        const origin = join(folder.path, 'origin');
        const boot = (person: Person) => bootFreshMachine({ release, person, origin, registry, between });
        root = stack.use(await boot('root'));
        me = stack.use(await boot('me'));
        await connect(root, me);
      });
      after(() => stack.disposeAsync());

      test('README.md, as root', () => new PageStory('README.md', { here: root }).run());

      test('README.md, as a user without npm, who is told how to install it', async () => {
        await me.newShell();
        const { code, stderr } = await me.run('scripts/up');
        const [, command] = /npm is missing; install it with: (.*)\n/.exec(stderr) ?? [];
        assert.ok(code === 1 && command !== undefined, stderr);
        assert.equal((await me.run(command)).code, 0);
        await new PageStory('README.md', { here: me }).run();
      });

      test(`${forEveryone}, as a user`, () => new PageStory(forEveryone, { here: me }).run());
      for (const page of howTo.filter((each) => each !== forEveryone)) {
        test(`${page}, as a user, who is refused and knows why`, () =>
          new PageStory(page, { here: me }).runUntilRefused());
      }
      test('docs/observability.md, as root: the marked blocks', () =>
        new PageStory('docs/observability.md', { here: root }).runMarked(administrator));
      for (const page of inOrder) {
        test(`${page}, as root`, () => new PageStory(page, { here: root, newMachine: me.rootShell }).run());
      }
    });
  }
});
