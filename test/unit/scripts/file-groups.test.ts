/** Files that share a process are judged as strictly as those that have one each. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, test } from 'node:test';
import { levels } from '../../../scripts/testing/levels.ts';
import { lastLine, runOver } from './test-project.ts';

const good = `test('a', () => {}); test('b', { skip: true }, () => {});`;

test('the folders whose files run in groups exist', () => {
  for (const [level, { groupedFolders }] of Object.entries(levels)) {
    for (const folder of groupedFolders)
      assert.ok(existsSync(resolve(import.meta.dirname, '../..', level, folder)), `test/${level}/${folder}`);
  }
});

describe('a group of files', { concurrency: 3 }, () => {
  test('runs in one process, counts the tests of each, and keeps their outermost hooks apart', async () => {
    const pid = `console.log('pid', process.pid);`;
    const { code, stdout, ...rest } = await runOver({
      'unit/api/a.test.ts': `let runs = 0; before(() => { runs += 1; }); test('a', () => assert.equal(runs, 1)); ${pid}`,
      'unit/api/b.test.ts': `${good} ${pid}`,
      'unit/api/deep/c.test.ts': `describe('s', () => { test('c', () => {}); }); ${pid}`,
    });
    assert.equal(lastLine({ code, stdout, ...rest }), '3 passed, 0 failed, 1 skipped', stdout);
    const pids = [...stdout.matchAll(/^pid (\d+)$/gm)].map(([, found]) => found);
    assert.equal(pids.length, 3);
    assert.equal(new Set(pids).size, 1);
    assert.equal(code, 0);
  });

  const namedAlone: Record<string, [text: string, said: RegExp]> = {
    'has no tests': ['', /bad\.test\.ts: it ended before its tests did, or has none/],
    'fails a test': [`test('x', () => assert.equal(1, 2));`, /✖ x/],
    'cannot be loaded': [`throw new Error('out of order');`, /out of order/],
    'ends the process with code 0': [`test('x', () => process.exit(0));`, /✖ .*bad\.test\.ts/],
    'sets an exit code': [`test('x', () => {}); process.exitCode = 3;`, /✖ .*bad\.test\.ts/],
    'has a rejection that nobody handles': [
      `test('x', () => { setTimeout(() => void Promise.reject(new Error('late')), 50); });`,
      /✖ .*bad\.test\.ts/,
    ],
    'writes where its process reports': [
      `import { writeSync } from 'node:fs'; test('x', () => { writeSync(3, 'not a report\\n'); });`,
      /✖ x/,
    ],
    'leaves a process': [
      `import { spawn } from 'node:child_process'; test('x', () => { spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }).unref(); });`,
      /bad\.test\.ts: left process \d+ running: sleep 1000/,
    ],
  };
  for (const [what, [text, said]] of Object.entries(namedAlone)) {
    test(`with a file that ${what}: the files run alone, and that one is named`, async () => {
      const result = await runOver({ 'unit/api/bad.test.ts': text, 'unit/api/good.test.ts': good });
      assert.match(result.stdout, /── .*good\.test\.ts, by itself because its group failed/);
      assert.match(result.stdout, said);
      assert.doesNotMatch(result.stdout, /disturb each other/);
      assert.match(lastLine(result) ?? '', /^[12] passed, [12] failed, 1 skipped$/);
      assert.equal(result.code, 10);
    });
  }

  const leaks: Record<string, string> = {
    'a variable of the environment': `test('x', () => { process.env.LEFT = 'behind'; });`,
    'a working directory': `test('x', () => process.chdir('/'));`,
    'a handler of the process': `test('x', () => { process.on('SIGUSR2', () => {}); });`,
    'a function of the language replaced': `test('x', () => { Date.now = () => 0; });`,
    'a global object replaced': `test('x', () => { globalThis.fetch = async () => new Response(); });`,
  };
  for (const [what, text] of Object.entries(leaks)) {
    test(`with a file that leaves ${what} fails, although each passes alone`, async () => {
      const result = await runOver({ 'unit/api/leak.test.ts': text, 'unit/api/next.test.ts': good });
      assert.match(result.stdout, /they disturb each other\n.*leak\.test\.ts\n.*next\.test\.ts\n/);
      assert.match(result.stdout, /leak\.test\.ts left behind: /);
      assert.equal(lastLine(result), '2 passed, 1 failed, 1 skipped');
      assert.equal(result.code, 10);
    });
  }

  test('in which nothing ends is killed, and the file that hangs is named', async () => {
    const result = await runOver(
      { 'unit/api/bad.test.ts': `test('x', () => { for (;;); });`, 'unit/api/good.test.ts': good },
      { timeoutSeconds: 2 },
    );
    assert.match(result.stdout, /bad\.test\.ts: its processes were killed: it had not ended after 2 s/);
    assert.equal(result.code, 10);
  });
});
