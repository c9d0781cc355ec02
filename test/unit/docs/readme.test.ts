import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { linksIn } from '../../support/index.ts';

const root = join(import.meta.dirname, '../../..');
/** What somebody reads before anything else is to be read to its end. */
const maxLines = 150;

test('the README is short, and leads to the pages that matter most', async () => {
  const text = await readFile(join(root, 'README.md'), 'utf8');
  const lines = text.trimEnd().split('\n').length;
  assert.ok(lines < maxLines, `it has ${lines} lines`);
  const links = linksIn(text);
  for (const document of [
    'docs/architecture.md',
    'docs/storage.md',
    'docs/benchmarks.md',
    'docs/errors.md',
  ]) {
    assert.ok(links.includes(document), `it does not lead to ${document}`);
  }
});
