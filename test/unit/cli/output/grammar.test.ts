import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Command } from 'commander';
import { isRecord, loadYamlReader } from '../../../../src/api/index.ts';
import { exitCodes } from '../../../../src/base/index.ts';
import { createProgram } from '../../../../src/cli/program.ts';
import { createContext, runCommandWith } from '../run-command.ts';
import { openWorld } from './world.ts';

const readYaml = await loadYamlReader();
const program = createProgram(createContext());
const world = await openWorld();
after(() => world[Symbol.asyncDispose]());

/** They run until they are stopped, tell what they do, or print something that is no result. */
const withoutResult = ['agent', 'apiserver', 'help', 'completion', 'join'];
/** Their formats are looked at here, and what they print beside them: another program brings it about. */
const elsewhere = ['storage migrate'];

function leavesOf(command: Command, path: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[path.join(' '), command]];
  return command.commands.flatMap((each) => leavesOf(each, [...path, each.name()]));
}

const leaves = leavesOf(program).filter(([name]) => !withoutResult.includes(name));
const formatsOf = (command: Command) =>
  command.options.find(({ long }) => long === '--output')?.argChoices ?? [];

let count = 0;
async function run(name: string, format: string, terminal = false, env: NodeJS.ProcessEnv = {}) {
  count += 1;
  const fresh = (file: string) => `${world.path}/${file}-${count}`;
  const args = [...name.split(' '), ...(world.commands[name]?.(fresh) ?? []), '-o', format];
  return await runCommandWith(args, { terminal, env });
}

/** Ends as it does where there is something to show: `diff` and the checks end with 1 if they found something. */
const done: readonly number[] = [exitCodes.ok, exitCodes.failed];
const escapeCode = '\u001b';

describe('-o is three things', () => {
  test('every command has one and the same, or is known to have no result', () => {
    for (const [name, command] of leaves) {
      const formats = formatsOf(command).join(',');
      assert.match(formats, /^(table,wide|text),json,yaml,name(,kubeconfig)?$/, name);
      assert.ok(elsewhere.includes(name) || world.commands[name] !== undefined, `${name} is tried here`);
      const short = command.options.find((option) => option.short === '-o');
      assert.equal(short?.long, '--output', name);
    }
  });

  test('what is for people can be asked for in every word, whichever the command has', () => {
    for (const [name, command] of leaves) {
      const option = command.options.find(({ long }) => long === '--output');
      const [first] = formatsOf(command);
      const read = (text: string): unknown => option?.parseArg?.(text, undefined);
      assert.equal(read('text'), first, name);
      assert.equal(read('table'), first, name);
      assert.equal(read('wide'), first === 'table' ? 'wide' : first, name);
    }
  });

  for (const [name, command] of leaves) {
    const formats = formatsOf(command);
    test(`${name}: a wrong one names those that are allowed`, async () => {
      const { code, stdout, stderr } = await run(name, 'xml');
      assert.deepEqual([code, stdout], [exitCodes.usage, '']);
      assert.match(stderr, new RegExp(`Allowed choices are ${formats.join(', ')}\\.`));
    });
  }
});

describe('every command, with every -o, on a terminal and in a pipe', () => {
  for (const [name, command] of leaves.filter(([each]) => !elsewhere.includes(each))) {
    test(name, async () => {
      if (name === 'token delete') await world.makeTokens(20);
      const documents: unknown[] = [];
      for (const format of formatsOf(command)) {
        for (const terminal of [false, true]) {
          const { code, stdout, stderr } = await run(name, format, terminal);
          const what = `${name} -o ${format}${terminal ? ' on a terminal' : ''}: ${stderr}`;
          assert.ok(done.includes(code), what);
          if (format === 'json') documents.push(JSON.parse(stdout));
          else if (format === 'yaml') documents.push(readYaml(stdout).value);
          else if (format === 'name') assert.match(stdout, /^(\S+\n)*$/, what);
          else assert.match(stdout, /^[\s\S]+\n$/, what);
          const mayColour = terminal && ['text', 'table', 'wide'].includes(format);
          if (!mayColour) assert.ok(!stdout.includes(escapeCode), `${what} has no colour`);
          if (!terminal) assert.ok(!stderr.includes(escapeCode), `${what} shows no progress`);
        }
      }
      const [first, ...others] = documents.map(shapeOf);
      for (const other of others) assert.deepEqual(other, first, 'json and yaml have the same fields');
    });
  }

  test('NO_COLOR takes the colour away', async () => {
    const [coloured, plain] = [
      await run('plugins ls', 'table', true),
      await run('plugins ls', 'table', true, { NO_COLOR: '1' }),
    ];
    assert.ok(coloured.stdout.includes(`${escapeCode}[31mfailed`));
    assert.equal(plain.stdout, (await run('plugins ls', 'table')).stdout);
  });

  test('what may take long shows its progress on a terminal', async () => {
    for (const name of [
      'checkpoint create',
      'checkpoint download',
      'checkpoint verify',
      'checkpoint prune',
      'checkpoint inspect',
      'checkpoint image',
      'checkpoint open',
      'storage snapshot',
      'storage restore',
      'status',
      'doctor',
      'access trim',
      'top',
    ]) {
      const { stderr } = await run(name, 'json', true);
      assert.ok(stderr.includes(`\r${escapeCode}[K`), name);
    }
  });

  test('wide has all columns of the table, and more', async () => {
    for (const name of [
      'checkpoint ls',
      'plugins ls',
      'pods ls',
      'devices ls',
      'seccomp ls',
      'token list',
      'storage stats',
      'top',
    ]) {
      const heads = async (format: string) =>
        (await run(name, format)).stdout
          .split('\n')
          .find((line) => /^[A-Z]+ {2}/.test(line))
          ?.split(/ {2,}/) ?? [];
      const [table, wide] = [await heads('table'), await heads('wide')];
      assert.ok(table.length > 0 && table.every((head) => wide.includes(head)), name);
      assert.ok(wide.length > table.length, name);
    }
  });
});

/** The names of the fields, at all levels; what is in a list, by its first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (!isRecord(value)) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, shapeOf(each)]));
}
