/** The commands of the pages that are marked with `<!-- run -->`, one page after the other, on a running nodeward. */
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runnableBlocks } from '../support/page-commands.ts';
import { ensureBuilt } from './installation.ts';
import { repository } from './lab/index.ts';
import type { PageMachine } from './pages/machine.ts';
import { startPageMachine } from './pages/machine.ts';

const docs = join(repository, 'docs');
const howTo = (await readdir(join(docs, 'how-to'))).filter((name) => name.endsWith('.md')).sort();
/** This one gives the node another name, which other pages do not expect. */
const last = 'remove-a-node.md';
const inOrder = [...howTo.filter((name) => name !== last), last];
const pages = ['observability.md', ...inOrder.map((name) => join('how-to', name))];

describe('the commands of a page work as they are pasted', () => {
  let machine: PageMachine;

  before(async () => {
    await ensureBuilt();
    machine = await startPageMachine();
  });
  after(() => machine?.[Symbol.asyncDispose]());

  for (const page of pages) {
    test(page, async () => {
      for (const { line, text } of runnableBlocks(await readFile(join(docs, page), 'utf8'))) {
        const { code, stdout, stderr } = await machine.run(text);
        assert.equal(code, 0, `docs/${page}:${line}\n${text}\n${stdout}${stderr}`);
      }
    });
  }
});

test('most how-to pages have commands that are run here', async () => {
  const counts = await Promise.all(
    howTo.map(async (name) => runnableBlocks(await readFile(join(docs, 'how-to', name), 'utf8')).length),
  );
  assert.ok(counts.filter((count) => count > 0).length > howTo.length / 2, counts.join(' '));
});
