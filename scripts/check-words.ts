/**
 * Checks names, comments and pages for words that are refused: `node scripts/check-words.ts [--root DIR] [PATH…]`, by
 * default all of src, scripts, bench, docs, README.md and CONTRIBUTING.md. The list, with what to say instead, is in
 * scripts/words/rules.ts. Ends with 1 when it finds one, or no file.
 */
import { glob, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { findInMarkdown, findInSource } from './words/find-words.ts';

const places = ['src', 'scripts', 'bench', 'docs', 'README.md', 'CONTRIBUTING.md'];
/** They name the refused words. */
const exempt = new Set(['docs/glossary.md', 'scripts/words/rules.ts']);

async function main(root: string, paths: readonly string[]): Promise<void> {
  const patterns = paths.flatMap((path) => (/\.(ts|md)$/.test(path) ? [path] : [`${path}/**/*.{ts,md}`]));
  let files = 0;
  let found = 0;
  for await (const path of glob(patterns, { cwd: root })) {
    if (path.includes('/gen/') || exempt.has(path)) continue;
    const text = await readFile(join(root, path), 'utf8');
    files += 1;
    for (const each of path.endsWith('.md') ? findInMarkdown(text) : findInSource(text)) {
      process.stdout.write(`${path}:${each.line}: ${each.found}; say instead: ${each.instead}\n`);
      found += 1;
    }
  }
  process.stdout.write(`${files} files, ${found} refused words\n`);
  if (found > 0 || files === 0) process.exitCode = 1;
}

const { values, positionals } = parseArgs({ options: { root: { type: 'string' } }, allowPositionals: true });
await main(
  resolve(values.root ?? join(import.meta.dirname, '..')),
  positionals.length > 0 ? positionals : places,
);
