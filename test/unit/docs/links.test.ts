import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { anchorsIn, brokenLinks, linksIn, temporaryFolder, unreachablePages } from '../../support/index.ts';

const root = join(import.meta.dirname, '../../..');

test('every relative link of README.md, CONTRIBUTING.md and docs leads to a file, and to a heading where it names one', async () => {
  assert.deepEqual(await brokenLinks(root), []);
});

test('the index of the docs leads to every page, one line for each question', async () => {
  const index = await readFile(join(root, 'docs/README.md'), 'utf8');
  const direct = new Set(linksIn(index).map((link) => link.split('#')[0]));
  assert.ok(direct.size > 20, 'it has links');
  const away = await unreachablePages(root, 'docs/README.md');
  assert.deepEqual(
    away.filter((page) => page.startsWith('docs/')),
    [],
  );
  assert.match(index, /^- I want to /m);
});

test('broken files, headings and ways out of the folder are found', async () => {
  await using folder = await temporaryFolder('links-');
  await mkdir(join(folder.path, 'docs'));
  await writeFile(
    join(folder.path, 'README.md'),
    '# A\n[x](docs/b.md#part-one) [y](docs/b.md#part-two) [z](gone.md) [o](../etc) [w](https://example.org) `[c](no.md)`\n',
  );
  await writeFile(
    join(folder.path, 'docs/b.md'),
    '## Part one\n[up](../README.md#a)\n```sh\n[n](no.md)\n```\n',
  );
  await writeFile(join(folder.path, 'docs/alone.md'), '# Alone\n');
  assert.deepEqual(
    (await brokenLinks(folder.path)).map(({ link }) => link),
    ['docs/b.md#part-two', 'gone.md', '../etc'],
  );
  await writeFile(join(folder.path, 'README.md'), '# A\n[x](docs/b.md)\n');
  assert.deepEqual(await unreachablePages(folder.path, 'README.md'), ['docs/alone.md']);
});

test('headings become anchors as on GitHub', () => {
  assert.deepEqual(
    [...anchorsIn('# The agent: plain text\n## `a_b` & [c](d.md)\n## Again\n## Again\n')],
    ['the-agent-plain-text', 'a_b--c', 'again', 'again-1'],
  );
});
