import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createProgram } from '../../../src/cli/program.ts';
import { linksIn } from '../../support/index.ts';
import { createContext } from '../cli/run-command.ts';

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

test('the README names every command', async () => {
  const text = await readFile(join(root, 'README.md'), 'utf8');
  const [, table = ''] = /^## Commands\n([^#]+)^Every command/m.exec(text) ?? [];
  const named = [...table.matchAll(/`(?:nodeward )?([a-z]+)[^`]*`/g)].map(([, name]) => name);
  for (const command of createProgram(createContext()).commands) {
    const name = command.name();
    assert.ok(name === 'help' || named.includes(name), `${name} is in the table`);
  }
});
