import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../../..');
/** What somebody reads before anything else is to be read to its end. */
const maxLines = 150;

/** Where links of a document lead within the repository. */
function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)].map(([, path = '']) => path);
}

test('the README is short, and leads to what is there', async () => {
  const text = await readFile(join(root, 'README.md'), 'utf8');
  const lines = text.trimEnd().split('\n').length;
  assert.ok(lines < maxLines, `it has ${lines} lines`);
  const links = linksIn(text);
  for (const link of links) assert.ok(existsSync(join(root, link)), `${link} is missing`);
  for (const document of [
    'docs/architecture.md',
    'docs/storage.md',
    'docs/benchmarks.md',
    'docs/errors.md',
  ]) {
    assert.ok(links.includes(document), `it does not lead to ${document}`);
  }
});

test('what the documents lead to is there', async () => {
  const folder = join(root, 'docs');
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.md')) continue;
    for (const link of linksIn(await readFile(join(folder, name), 'utf8'))) {
      assert.ok(existsSync(join(folder, link)), `${name} leads to ${link}, which is missing`);
    }
  }
});
