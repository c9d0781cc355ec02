import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { findInMarkdown, findInSource } from '../../../scripts/words/find-words.ts';
import { runCommand, temporaryFolder } from '../../support/index.ts';

const found = (text: string): string[] => findInSource(text).map(({ line, found }) => `${line} ${found}`);

describe('the check of words', () => {
  test('finds a refused word in a name, however it is written', () => {
    const text = 'const toldNames = 1;\nfunction isTold() {}\nconst TOLD_ONCE = 2;\nclass ToldState {}\n';
    assert.deepEqual(found(text), ['1 toldNames', '2 isTold', '3 TOLD_ONCE', '4 ToldState']);
  });

  test('leaves names alone that only contain the letters', () => {
    assert.deepEqual(found('const returns = bookmarks + foreseen + turnstile + almost + mostly;'), []);
  });

  test('refuses some words only as the prefix of a name', () => {
    assert.deepEqual(found('const mostRights = 1; const most = 2; const atMostOne = 3;'), ['1 mostRights']);
  });

  test('finds a refused word in comments of both forms, with its line', () => {
    const text = '// what the caller is told\nlet x = 1;\n/**\n * Whoever asks.\n */\n';
    assert.deepEqual(found(text), ['1 told', '4 Whoever']);
  });

  test('takes words that are refused in names only for plain English in a comment', () => {
    assert.deepEqual(found('// shown in turn, as seen by a few\n'), []);
  });

  test('passes over texts between quotes and templates', () => {
    assert.deepEqual(found(`f('told', "it's anew", \`whoever\`, 'it\\'s told');`), []);
  });

  test('is not led astray by an apostrophe in a comment or by a regular expression', () => {
    assert.deepEqual(found(`// it's fine\nconst r = /['"]/;\nconst told = 1;\n`), ['3 told']);
  });

  test('reads the prose of a page and passes over its code', () => {
    const page = 'Somebody asks.\n\n```\ntold\n```\nThe field `told` is\nnamed anew.\n';
    assert.deepEqual(
      findInMarkdown(page).map(({ line, found }) => `${line} ${found}`),
      ['1 Somebody', '7 anew'],
    );
  });
});

describe('scripts/check-words.ts', () => {
  const checker = resolve(import.meta.dirname, '../../../scripts/check-words.ts');

  async function check(files: Record<string, string>) {
    await using root = await temporaryFolder();
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(root.path, path)), { recursive: true });
      await writeFile(join(root.path, path), text);
    }
    return await runCommand(process.execPath, [checker, '--root', root.path]);
  }

  test('names file, line, word and what to say instead, and fails', async () => {
    const { stdout, code } = await check({ 'src/a.ts': '\nconst told = 1;\n', 'docs/b.md': 'Fine.\n' });
    assert.match(stdout, /^src\/a\.ts:2: told; say instead: .+\n2 files, 1 refused words\n$/);
    assert.equal(code, 1);
  });

  test('is content with plain words, and passes over generated files', async () => {
    const files = { 'src/a.ts': 'const name = 1;\n', 'src/x/gen/b.ts': 'const told = 1;\n' };
    const { stdout, code } = await check(files);
    assert.equal(stdout, '1 files, 0 refused words\n');
    assert.equal(code, 0);
  });

  test('a root without files is no success', async () => {
    assert.equal((await check({})).code, 1);
  });
});
