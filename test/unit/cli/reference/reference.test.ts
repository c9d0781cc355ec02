import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../../../src/cli/program.ts';
import type { Shell } from '../../../../src/cli/reference/index.ts';
import {
  listPages,
  nameOfPage,
  renderCompletion,
  renderManPages,
  shells,
  toPage,
} from '../../../../src/cli/reference/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { createContext, runCommandLine } from '../run-command.ts';

const program = createProgram(createContext());
const tree = toPage(program);
const pages = listPages(tree).slice(1);
const root = join(import.meta.dirname, '../../../..');

const allCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(allCommands)];

describe('no shell completion, no man page', () => {
  test('every command and flag is in --help, the man page, the completion and docs/commands.md', async () => {
    const docs = await readFile(join(root, 'docs/commands.md'), 'utf8');
    const manual = renderManPages(tree, '1');
    const scripts = shells.map((shell) => renderCompletion(shell, tree));
    assert.equal(pages.length, allCommands(program).length - 1);
    for (const page of pages) {
      const name = nameOfPage(page);
      const { stdout: help } = await runCommandLine([...page.path, '--help']);
      const man = manual.get(`nodeward-${page.path[0]}.1`)?.replaceAll(String.raw`\-`, '-') ?? '';
      assert.ok(docs.includes(`# ${name}\n`), `${name} in the docs`);
      assert.ok(man.includes(name), `${name} in its man page`);
      for (const script of scripts) assert.ok(script.includes(page.path.join(' ')), `${name} is completed`);
      for (const { long } of page.flags) {
        assert.match(help, new RegExp(`${long}\\b`), `${name} ${long} in the help`);
        assert.ok(man.includes(long) && docs.includes(long), `${name} ${long}`);
        for (const script of scripts)
          assert.match(script, new RegExp(`(?:${long}|-l ${long.slice(2)})\\b`), `${name} ${long}`);
      }
    }
  });

  test('the help of every command says in one way what it does and takes', async () => {
    for (const page of pages) {
      const name = nameOfPage(page);
      assert.match(page.description, /^[A-Z].*\.$/s, `${name}: a sentence`);
      for (const { long, description } of page.flags)
        assert.match(description, /^\S(?!.*[^.]\.$)/s, `${name} ${long}: a phrase`);
      for (const { name: operand, description } of page.operands)
        assert.notEqual(description, '', `${name} ${operand}`);
    }
  });

  test('bash completes commands, flags, values and the ids of checkpoints', async () => {
    await using folder = await temporaryFolder();
    const script = join(folder.path, 'completion');
    await writeFile(script, renderCompletion('bash', tree));
    const complete = (...words: string[]) => {
      const lines = [
        `source ${script}`,
        'compopt() { :; }',
        'timeout() { [[ $1 == 2 ]] && echo checkpoint-web_shop-main-2026-01-02T03:04:05Z; }',
        `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}) COMP_CWORD=${words.length - 1}`,
        '_nodeward',
        `printf '%s\\n' "\${COMPREPLY[@]}"`,
      ];
      const text = execFileSync('bash', ['--norc', '-c', lines.join('\n')], { encoding: 'utf8' });
      return text.split('\n').filter((line) => line !== '');
    };
    assert.deepEqual(complete('nodeward', 'chec'), ['checkpoint']);
    assert.deepEqual(complete('nodeward', 'checkpoint', 'un'), ['unpin']);
    assert.deepEqual(complete('nodeward', 'checkpoint', 'ls', '--pi'), ['--pinned']);
    assert.deepEqual(complete('nodeward', 'checkpoint', 'ls', '-o', ''), [
      'table',
      'wide',
      'json',
      'yaml',
      'name',
    ]);
    assert.deepEqual(complete('nodeward', 'checkpoint', 'ls', '--output', '=', 'j'), ['json']);
    assert.deepEqual(complete('nodeward', 'checkpoint', '--node', 'rm', 'get', 'checkpoint-w'), [
      'checkpoint-web_shop-main-2026-01-02T03:04:05Z',
    ]);
    assert.deepEqual(complete('nodeward', 'completion', ''), [...shells]);
  });

  test('TAB executed what the id of a checkpoint contains: bash offers no such id', async () => {
    await using folder = await temporaryFolder();
    const id = 'checkpoint-web_shop-main-2026-01-02T03:04:05Z';
    const ids = [`$(touch\${IFS}PWNED)`, `\`touch\${IFS}PWNED\``, '*'].map((part) => `checkpoint-a_${part}`);
    await mkdir(join(folder.path, 'bin'));
    const lines = [...ids, id].map((each) => `printf '%s\\n' '${each}'`);
    await writeFile(join(folder.path, 'bin/nodeward'), ['#!/bin/sh', ...lines, ''].join('\n'), {
      mode: 0o755,
    });
    await writeFile(join(folder.path, 'completion'), renderCompletion('bash', tree));
    const text = execFileSync(
      'bash',
      [
        '--norc',
        '-c',
        `source ./completion
compopt() { :; }
COMP_WORDS=(nodeward checkpoint get checkpoint-) COMP_CWORD=3
_nodeward
printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      {
        encoding: 'utf8',
        cwd: folder.path,
        env: { ...process.env, PATH: `${folder.path}/bin:${process.env['PATH']}` },
      },
    );
    assert.equal(text, `${id}\n`);
    assert.equal(existsSync(join(folder.path, 'PWNED')), false);
  });

  test('zsh and fish leave out ids with other characters, too', () => {
    assert.ok(renderCompletion('zsh', tree).includes('2>/dev/null)"}:#*[^A-Za-z0-9:._~-]*})'));
    const lines = renderCompletion('fish', tree)
      .split('\n')
      .filter((line) => line.includes('checkpoint ls --output name'));
    assert.notEqual(lines.length, 0);
    for (const line of lines)
      assert.ok(line.includes(String.raw`| string match -r \'^[A-Za-z0-9:._~-]+$\')`), line);
  });

  test('the command prints them, and no other', async () => {
    for (const shell of shells) {
      const { code, stdout } = await runCommandLine(['completion', shell]);
      assert.deepEqual([code, stdout], [0, renderCompletion(shell satisfies Shell, tree)]);
    }
    const { code, stderr } = await runCommandLine(['completion', 'tcsh']);
    assert.equal(code, 2);
    assert.match(stderr, /Allowed choices are bash, zsh, fish/);
  });

  test('a man page is read by man without a complaint', () => {
    for (const [name, text] of renderManPages(tree, '1')) {
      assert.match(text, /^\.TH NODEWARD/, name);
      for (const line of text.split('\n'))
        assert.match(line, /^(?:\.(?:TH|SH|SS|TP|B|BR|I|br)\b|[^.']|$)/, name);
    }
  });
});
