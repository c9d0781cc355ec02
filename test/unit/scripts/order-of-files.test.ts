/** Which test files run beside others, in which order, and what is built before them. */
import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { getPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import type { CommandResult } from '../../support/index.ts';
import { temporaryFolder } from '../../support/index.ts';
import { lastLine, runIn, runOver, writeTests } from './test-project.ts';

/** The order in which files began or ended, by the titles in the output. */
function titles(stdout: string): string[] {
  return [...stdout.matchAll(/^── test\/\w+\/(\w+)\.test\.ts$/gm)].map(([, name = '']) => name);
}

const file = `test('a', () => {});`;

/** A test that takes half a second and says when it ran. */
const timed = `test('a', async () => { const start = Date.now(); await new Promise((r) => setTimeout(r, 500)); console.log('ran', start, Date.now()); });`;

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** A build script that writes the program and counts how often it was called. */
async function writeProject(root: string, files: Record<string, string>): Promise<void> {
  await writeTests(root, files);
  const build = `import { appendFileSync, mkdirSync } from 'node:fs';
mkdirSync('${root}/dist', { recursive: true });
appendFileSync('${root}/dist/main.js', '// built\\n');`;
  await write(join(root, 'src/main.ts'), '');
  await write(join(root, 'package-lock.json'), '{}');
  await write(join(root, 'scripts/build.ts'), build);
}

describe('lanes', { concurrency: 2 }, () => {
  test('an exclusive file runs when no other does, and the others beside each other', async () => {
    await using root = await temporaryFolder();
    await writeProject(root.path, {
      'integration/a.test.ts': timed,
      'integration/b.test.ts': `/** What it tests. */\n// lane: exclusive (it measures time)\n${timed}`,
      'integration/c.test.ts': `// lane: exclusive (it measures time)\n${timed}`,
    });
    const result = await runIn(root.path, { levels: ['integration'] });
    assert.equal(lastLine(result), '3 passed, 0 failed, 0 skipped', result.stdout);
    const times = [...result.stdout.matchAll(/ran (\d+) (\d+)/g)].map(([, from, to]) => [
      Number(from),
      Number(to),
    ]);
    const [first, second, third] = times.toSorted(([a = 0], [b = 0]) => a - b);
    assert.ok(first?.[1] !== undefined && second?.[0] !== undefined && second[0] >= first[1]);
    assert.ok(second[1] !== undefined && third?.[0] !== undefined && third[0] >= second[1]);
    assert.equal(titles(result.stdout)[0], 'a');
  });

  test('a file that mostly waits takes nobody’s place', async () => {
    await using root = await temporaryFolder();
    /** Ends when the others run too. */
    const meets = (name: string, others: readonly string[]) =>
      `const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs');
test('a', async () => {
  writeFileSync('${root.path}/${name}', '');
  while (!${JSON.stringify(others)}.every((each) => existsSync('${root.path}/' + each))) await new Promise((r) => setTimeout(r, 20));
});`;
    await writeProject(root.path, {
      'integration/a.test.ts': meets('a', ['b', 'c']),
      'integration/b.test.ts': meets('b', ['a', 'c']),
      'integration/c.test.ts': `// lane: waiting (for the others)\n${meets('c', ['a', 'b'])}`,
    });
    const result = await runIn(root.path, { levels: ['--parallel', '2', 'integration'] });
    assert.equal(lastLine(result), '3 passed, 0 failed, 0 skipped', result.stdout);
  });

  test('such files run one after the other, and beside nothing where there is to be one process', async () => {
    await using root = await temporaryFolder();
    const waiting = `// lane: waiting (for a long time)\n${timed}`;
    await writeProject(root.path, { 'integration/a.test.ts': waiting, 'integration/b.test.ts': waiting });
    const spans = async (parallel: number): Promise<(readonly [from: number, to: number])[]> => {
      const result = await runIn(root.path, { levels: ['--parallel', String(parallel), 'integration'] });
      const found = [...result.stdout.matchAll(/ran (\d+) (\d+)/g)];
      return found.map(([, from, to]) => [Number(from), Number(to)] as const).sort(([a], [b]) => a - b);
    };
    const areApart = (all: Awaited<ReturnType<typeof spans>>) =>
      all.every(([from], index) => from >= (all[index - 1]?.[1] ?? 0));
    const two = await spans(2);
    assert.ok(two.length === 2 && areApart(two), String(two));
    await writeProject(root.path, { 'integration/c.test.ts': timed });
    const three = await spans(1);
    assert.ok(three.length === 3 && areApart(three), String(three));
  });

  const wrong: Record<string, [line: string, said: RegExp]> = {
    'that does not exist': ['// lane: fast (it is small)', /there is no lane fast/],
    'without a reason': ['// lane: exclusive', /the reason in parentheses is missing/],
    'in another form': ['// lane exclusive', /not of the form/],
  };
  for (const [what, [line, said]] of Object.entries(wrong)) {
    test(`a lane ${what} is a failure, and the file is not run`, async () => {
      const result = await runOver({ 'unit/a.test.ts': `${line}\n${file}`, 'unit/b.test.ts': file });
      assert.match(result.stdout, said);
      assert.equal(lastLine(result), '1 passed, 1 failed, 0 skipped');
    });
  }
});

test('the program is built once before integration tests, and not again while it is newer than its sources', async () => {
  await using root = await temporaryFolder();
  await writeProject(root.path, { 'integration/a.test.ts': file, 'integration/b.test.ts': file });
  for (let run = 0; run < 2; run++)
    assert.equal((await runIn(root.path, { levels: ['integration'] })).code, 0);
  assert.equal(await readFile(join(root.path, 'dist/main.js'), 'utf8'), '// built\n');
});

test('what starts the built program has no compile cache in its environment, other tests have', async () => {
  await using root = await temporaryFolder();
  const prints = `test('a', () => console.log('cache:', process.env.NODE_COMPILE_CACHE ?? 'none'));`;
  await writeProject(root.path, { 'unit/a.test.ts': prints, 'integration/b.test.ts': prints });
  const { stdout } = await runIn(root.path, { levels: ['unit', 'integration'], hasOwnCache: true });
  const found = /^── test\/(\w+)\/\w\.test\.ts$[^─]*^cache: (.*)$/gm;
  assert.deepEqual(
    Object.fromEntries([...stdout.matchAll(found)].map(([, level, cache]) => [level, cache])),
    {
      unit: join(root.path, '.cache/compile'),
      integration: 'none',
    },
  );
});

describe('unit tests beside integration tests', { concurrency: 2 }, () => {
  /** Says with which priority it runs, and a thread that was there before it, and what it starts. */
  const tells = `const { getPriority } = process.getBuiltinModule('node:os');
const { execFileSync } = process.getBuiltinModule('node:child_process');
const { readdirSync } = process.getBuiltinModule('node:fs');
test('a', () => {
  const threads = readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)));
  const child = Number(execFileSync('nice', { encoding: 'utf8' }));
  console.log('priorities', Math.min(...threads), Math.max(...threads), child);
});`;
  const priorities = ({ stdout }: CommandResult) =>
    Object.fromEntries(
      [...stdout.matchAll(/^── test\/(\w+)\/\w\.test\.ts$[^─]*^priorities (.*)$/gm)].map(
        ([, level, told = '']) => [level, told.split(' ').map(Number)],
      ),
    );

  test('run meanwhile, and compute when nobody else does', async () => {
    await using root = await temporaryFolder();
    /** Ends when the other runs too. */
    const meets = (own: string, other: string) => `${tells}
const { existsSync, writeFileSync } = process.getBuiltinModule('node:fs');
test('b', async () => {
  writeFileSync('${root.path}/${own}', '');
  while (!existsSync('${root.path}/${other}')) await new Promise((r) => setTimeout(r, 20));
});`;
    await writeProject(root.path, {
      'integration/a.test.ts': meets('a', 'b'),
      'unit/b.test.ts': meets('b', 'a'),
    });
    const result = await runIn(root.path, { levels: ['unit', 'integration'] });
    assert.equal(lastLine(result), '4 passed, 0 failed, 0 skipped', result.stdout);
    const own = getPriority();
    const low = Math.max(own, 10);
    assert.deepEqual(priorities(result), { unit: [low, low, low], integration: [own, own, own] });
    assert.match(result.stdout, /^unit: 2 passed/m);
    assert.match(result.stdout, /^integration: 2 passed/m);
  });

  test('have ended when an exclusive file runs', async () => {
    await using root = await temporaryFolder();
    await writeProject(root.path, {
      'integration/a.test.ts': `// lane: exclusive (it measures time)\n${timed}`,
      'unit/b.test.ts': timed,
    });
    const result = await runIn(root.path, { levels: ['unit', 'integration'] });
    assert.equal(lastLine(result), '2 passed, 0 failed, 0 skipped', result.stdout);
    assert.deepEqual(titles(result.stdout), ['b', 'a']);
    const [before, after] = [...result.stdout.matchAll(/ran (\d+) (\d+)/g)];
    assert.ok(Number(after?.[1]) >= Number(before?.[2]));
  });

  test('run before them where the number of processes is limited', async () => {
    await using root = await temporaryFolder();
    await writeProject(root.path, { 'integration/a.test.ts': tells, 'unit/b.test.ts': tells });
    const result = await runIn(root.path, { levels: ['--parallel', '2', 'unit', 'integration'] });
    const own = getPriority();
    assert.deepEqual(titles(result.stdout), ['b', 'a']);
    assert.deepEqual(priorities(result), { unit: [own, own, own], integration: [own, own, own] });
  });
});

describe('the order of files', () => {
  const all = { 'integration/a.test.ts': file, 'integration/b.test.ts': file, 'integration/c.test.ts': file };
  const exclusive = Object.fromEntries(
    Object.entries(all).map(([path, text]) => [path, `// lane: exclusive (in order)\n${text}`]),
  );
  const order = async (root: string): Promise<string[]> =>
    titles((await runIn(root, { levels: ['integration'] })).stdout);

  test('is from the longest to the shortest by the last run, and new files first', async () => {
    await using root = await temporaryFolder();
    await writeProject(root.path, exclusive);
    const kept = join(root.path, '.cache/test-durations.json');
    await write(kept, JSON.stringify({ 'test/integration/a.test.ts': 6, 'test/integration/b.test.ts': 9 }));
    assert.deepEqual(await order(root.path), ['c', 'b', 'a']);
    const names: unknown = Object.keys(JSON.parse(await readFile(kept, 'utf8')));
    assert.deepEqual(
      names,
      Object.keys(all).map((path) => `test/${path}`),
    );
  });

  test('is that of the committed table where nothing has run yet, and files not in it do not come last', async () => {
    await using root = await temporaryFolder();
    await writeProject(root.path, exclusive);
    const table = { 'test/integration/b.test.ts': 6, 'test/integration/c.test.ts': 90 };
    await write(join(root.path, 'scripts/testing/durations.json'), JSON.stringify(table));
    assert.deepEqual(await order(root.path), ['c', 'a', 'b']);
  });

  test('a table that is damaged is as none', async () => {
    await using root = await temporaryFolder();
    await writeProject(root.path, exclusive);
    await write(join(root.path, '.cache/test-durations.json'), '{"a": ');
    assert.deepEqual(await order(root.path), ['a', 'b', 'c']);
  });
});

test('each level ends with its slowest files and its time', async () => {
  const slow = `test('a', () => new Promise((r) => setTimeout(r, 1200)));`;
  const { stdout } = await runOver({ 'unit/a.test.ts': slow, 'unit/b.test.ts': file });
  assert.match(stdout, /── the slowest files\n +\d+\.\d s {2}test\/unit\/a\.test\.ts\n/);
  assert.match(stdout, /^unit: 2 passed, 0 failed, 0 skipped \(\d+ s\)$/m);
});

test('--write-durations makes the table of a fresh checkout, of long files only', async () => {
  await using root = await temporaryFolder();
  await writeTests(root.path, { 'unit/a.test.ts': file });
  await write(
    join(root.path, '.cache/test-durations.json'),
    JSON.stringify({ 'test/unit/long.test.ts': 7.4 }),
  );
  await mkdir(join(root.path, 'scripts/testing'), { recursive: true });
  const { code } = await runIn(root.path, { levels: ['--write-durations', 'unit'] });
  assert.equal(code, 0);
  const table = JSON.parse(await readFile(join(root.path, 'scripts/testing/durations.json'), 'utf8'));
  assert.deepEqual(table, { 'test/unit/long.test.ts': 7 });
});
