/** The runner must never look green when it should not: it is run on test files that go wrong in every way. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { CommandResult } from '../../support/index.ts';
import { isAlive } from '../../support/index.ts';
import { lastLine, runOver } from './test-project.ts';

const whatFailed = ({ stdout }: CommandResult): string => stdout.split('\n══ what failed\n')[1] ?? '';

describe('the test runner', { concurrency: 4 }, () => {
  test('sums tests over suites, files and levels', async () => {
    const result = await runOver(
      {
        'unit/one.test.ts': `test('a', () => {}); describe('s', () => { test('b', () => {}); });`,
        'unit/deep/er/two.test.ts': `test('c', () => {});`,
        'contract/three.test.ts': `test('d', () => {});`,
        'unit/no-test.ts': `throw new Error('not a test file');`,
      },
      { levels: ['contract', 'unit'] },
    );
    assert.equal(lastLine(result), '4 passed, 0 failed, 0 skipped');
    assert.equal(result.code, 0);
  });

  test('shows what failed and counts it', async () => {
    const result = await runOver({
      'unit/good.test.ts': `test('a', () => {});`,
      'unit/bad.test.ts': `describe('s', () => { test('broken promise', () => assert.equal(1, 2)); test('b', () => {}); });`,
    });
    assert.equal(lastLine(result), '2 passed, 1 failed, 0 skipped');
    assert.match(result.stdout, /broken promise/);
    assert.equal(result.code, 10);
  });

  test('a skipped test is told, and red where nobody watches', async () => {
    const files = {
      'unit/skip.test.ts': `test('a', () => {}); test('b', { skip: 'no moon' }, () => {}); test.todo('c');`,
    };
    const [lenient, strict] = [await runOver(files), await runOver(files, { strict: true })];
    assert.equal(lastLine(lenient), '1 passed, 0 failed, 2 skipped');
    assert.deepEqual([lenient.code, strict.code], [0, 10]);
  });

  test('a skipped suite is one that is skipped, whatever is in it', async () => {
    const files = {
      'unit/skip.test.ts': `test('a', () => {}); describe.skip('s', () => { test('b', () => {}); test('c', () => {}); });`,
      'unit/api/skip.test.ts': `describe('s', { skip: 'no moon' }, () => { test('b', () => {}); });`,
      'unit/api/todo.test.ts': `describe.todo('s', () => { test('b', () => assert.equal(1, 2)); });`,
    };
    const result = await runOver(files, { strict: true });
    assert.equal(lastLine(result), '1 passed, 0 failed, 3 skipped');
    assert.equal(result.code, 10);
  });

  const neverGreen: Record<string, string> = {
    'a file without tests': ``,
    'a file that cannot be read as TypeScript': `this is no code`,
    'an exit with code 0 before the first test ran': `test('a', () => {}); process.exit(0);`,
    'an exit with code 0 in the middle': `test('a', () => {}); test('b', async () => { await new Promise((r) => setTimeout(r, 300)); process.exit(0); }); test('c', () => {});`,
    'a process that kills itself': `test('a', () => process.kill(process.pid, 'SIGKILL'));`,
    'an error after the tests': `test('a', () => {}); setTimeout(() => { throw new Error('late'); }, 50);`,
    'a rejection that nobody handles': `test('a', () => {}); setTimeout(() => void Promise.reject(new Error('late')), 50);`,
    'a suite whose hook fails': `describe('s', () => { before(() => { throw new Error('hook'); }); test('a', () => {}); });`,
    'a suite whose body fails': `describe('s', () => { test('a', () => {}); throw new Error('body'); });`,
    'an exit code set aside': `test('a', () => {}); process.exitCode = 3;`,
  };
  for (const [what, text] of Object.entries(neverGreen)) {
    test(`${what} is red`, async () => {
      const result = await runOver({ 'unit/x.test.ts': text });
      assert.match(lastLine(result) ?? '', /^\d+ passed, [1-9]\d* failed, \d+ skipped$/);
      assert.equal(result.code, 10);
      assert.match(whatFailed(result), /^── \S*x\.test\.ts\n.*✖ /s, 'the end of the output names the file');
    });
  }

  test('ends with what failed in each file and why, whatever came after it', async () => {
    const result = await runOver(
      {
        'unit/a.test.ts': `describe('s', () => { before(() => { throw new Error('the hook'); }); test('a', () => {}); });`,
        'unit/b.test.ts': `test('b', () => assert.equal(1, 2));`,
        'unit/c.test.ts': `test('c', () => { throw new Error(Array.from({ length: 1000 }, (_, i) => 'line ' + i).join('\\n')); });`,
        'contract/d.test.ts': `test('d', () => { for (let i = 0; i < 1000; i += 1) console.log(i); });`,
      },
      { levels: ['unit', 'contract'] },
    );
    const end = whatFailed(result);
    assert.match(end, /^── test\/unit\/a\.test\.ts\ntest at .*\n✖ s .*\n {2}Error: the hook$/m);
    assert.match(end, /^── test\/unit\/b\.test\.ts\ntest at .*\n✖ b .*\n.* 1 == 2$/m);
    assert.doesNotMatch(end, /cancelled|d\.test\.ts/);
    assert.ok(end.split('\n').length < 150, 'long reports are cut');
    assert.match(end, /line 0\n.*… \d+ lines …/s);
  });

  for (const [where, text] of Object.entries({
    'a test': `test('a', async () => { await start(); throw new Error('x'); });`,
    'a hook': `describe('s', () => { before(async () => { await start(); throw new Error('x'); }); test('a', () => {}); });`,
  })) {
    test(`what the processes of ${where} that failed wrote is at the end of the output`, async () => {
      const support = join(import.meta.dirname, '../../support/index.ts');
      const script = 'echo hello; echo no luck >&2; exit 3';
      const start = `import { startProcess } from ${JSON.stringify(support)};
const start = async () => await (await startProcess('sh', ['-c', '${script}'])).exited;`;
      const end = whatFailed(await runOver({ 'unit/a.test.ts': `${start}\n${text}` }));
      assert.match(end, /^┄ sh -c .* \(ended with 3\)\n┄ {3}hello\n┄ {3}no luck$/m);
    });
  }

  test('a level without test files is red', async () => {
    const result = await runOver(
      { 'unit/a.test.ts': `test('a', () => {});` },
      { levels: ['unit', 'contract'] },
    );
    assert.equal(lastLine(result), '1 passed, 1 failed, 0 skipped');
    assert.equal(result.code, 10);
  });

  test('a process left running is ended, and red', async () => {
    const result = await runOver({
      'unit/a.test.ts': `import { spawn } from 'node:child_process';
test('a', () => { const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }); child.unref(); console.log('pid', child.pid); });`,
    });
    assert.equal(lastLine(result), '1 passed, 1 failed, 0 skipped');
    const pid = /left process (\d+) running: sleep 1000/.exec(result.stdout)?.[1];
    assert.ok(pid !== undefined);
    assert.equal(await isAlive(Number(pid)), false);
  });

  test('a test that never ends is ended and named', async () => {
    const result = await runOver(
      { 'unit/a.test.ts': `test('a', () => {}); test('waits for nothing', () => new Promise(() => {}));` },
      { timeoutSeconds: 4 }, // the file is killed after twice that, which a slow start must not reach
    );
    assert.equal(lastLine(result), '1 passed, 1 failed, 0 skipped');
    assert.match(result.stdout, /waits for nothing/);
  });

  test('a test that neither ends nor lets itself be ended is killed', async () => {
    const result = await runOver(
      { 'unit/a.test.ts': `test('a', () => {}); test('b', () => { for (;;); });` },
      { timeoutSeconds: 1 },
    );
    assert.match(lastLine(result) ?? '', /^\d passed, [1-9] failed, 0 skipped$/);
    assert.equal(result.code, 10);
  });

  test('a file that something keeps alive after its tests is killed, and red', async () => {
    const result = await runOver(
      { 'unit/a.test.ts': `test('a', () => {}); test('b', () => { setInterval(() => {}, 1000); });` },
      { timeoutSeconds: 1 },
    );
    assert.match(result.stdout, /does something keep it alive\?/);
    assert.equal(result.code, 10);
  });

  test('an unknown level and none at all are errors of usage', async () => {
    const [unknown, nothing] = [await runOver({}, { levels: ['unti'] }), await runOver({}, { levels: [] })];
    assert.match(unknown.stderr, /unknown: unti\nusage: /);
    assert.deepEqual([unknown.code, nothing.code], [2, 2]);
  });

  test('a time that no timer can wait is an error of usage: it would be over at once', async () => {
    for (const timeoutSeconds of [Number.POSITIVE_INFINITY, 3e6, 0, Number.NaN]) {
      const { code, stderr } = await runOver(
        { 'unit/a.test.ts': `test('a', () => {});` },
        { timeoutSeconds },
      );
      assert.equal(code, 2);
      assert.match(stderr, /^not a time: /);
    }
  });
});
