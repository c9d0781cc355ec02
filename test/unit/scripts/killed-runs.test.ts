/** Nothing that a test started lives on when its process, or the runner's, is killed with SIGKILL. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { describe, test } from 'node:test';
import type { SupervisedProcess } from '../../support/index.ts';
import {
  childrenOf,
  isAlive,
  runCommand,
  sendSignal,
  startProcess,
  temporaryFolder,
  waitFor,
} from '../../support/index.ts';
import { runIn, runner, runnerEnvironment, writeTests } from './test-project.ts';

/** A test that starts a process with a session of its own, as servers have, and then does as `next` says. */
function startsServer(root: string, next: string): string {
  return `import { spawn } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
test('a', async () => {
  const child = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
  writeFileSync('${root}/new', JSON.stringify({ server: child.pid, folder: process.env.TMPDIR }));
  renameSync('${root}/new', '${root}/started');
  ${next}
});`;
}

const waitsForEver = 'await new Promise((resolve) => setTimeout(resolve, 1e6));';
const killsItself = `process.kill(process.pid, 'SIGKILL');`;

async function started(root: string): Promise<{ server: number; folder: string }> {
  const path = join(root, 'started');
  await waitFor('the test', () => existsSync(path));
  return JSON.parse(await readFile(path, 'utf8'));
}

function startRunner(root: string): Promise<SupervisedProcess> {
  return startProcess(process.execPath, [runner, '--root', root, 'unit'], { env: runnerEnvironment() });
}

async function hasGone(pid: number): Promise<void> {
  await waitFor(`process ${pid} to end`, async () => !(await isAlive(pid)));
}

describe('a server that a test has started', () => {
  test('ends when the runner is killed, and the folder of the test goes', async () => {
    await using root = await temporaryFolder();
    await writeTests(root.path, { 'unit/a.test.ts': startsServer(root.path, waitsForEver) });
    await using run = await startRunner(root.path);
    const { server, folder } = await started(root.path);
    assert.ok(await isAlive(server));
    assert.ok((await stat(folder)).isDirectory());
    await run.kill9();
    await hasGone(server);
    await waitFor(`${folder} to go`, () => !existsSync(folder));
  });

  test('ends with the next run when what watches the runner was killed, too', async () => {
    await using root = await temporaryFolder();
    await writeTests(root.path, { 'unit/a.test.ts': startsServer(root.path, waitsForEver) });
    await using run = await startRunner(root.path);
    const { server, folder } = await started(root.path);
    const reaper = (await childrenOf(run.pid)).find(({ argv }) =>
      argv.some((each) => each.endsWith('reaper-main.ts')),
    );
    assert.ok(reaper);
    sendSignal(reaper.pid, 'SIGKILL');
    await run.kill9();
    assert.ok(await isAlive(server));
    await using next = await temporaryFolder();
    await writeTests(next.path, { 'unit/a.test.ts': `test('a', () => {});` });
    assert.equal((await runIn(next.path)).code, 0);
    assert.equal(await isAlive(server), false);
    assert.equal(existsSync(folder), false);
  });

  test('ends when the process of its file is killed, and the runner goes on', async () => {
    await using root = await temporaryFolder();
    await writeTests(root.path, { 'unit/a.test.ts': startsServer(root.path, killsItself) });
    const { code } = await runIn(root.path);
    const { server } = await started(root.path);
    assert.equal(code, 10);
    assert.equal(await isAlive(server), false);
  });

  test('ends when the run is interrupted, and nothing begins after that', async () => {
    await using root = await temporaryFolder();
    await writeTests(root.path, {
      'unit/api/a.test.ts': `test('fails', () => assert.equal(1, 2));`,
      'unit/api/b.test.ts': startsServer(root.path, waitsForEver).replace(
        `test('a', async () => {`,
        `test('begins when it runs alone', async () => { if (process.env.NODEWARD_TEST_GROUP) return;`,
      ),
      'unit/api/c.test.ts': `import { writeFileSync } from 'node:fs';
test('c', () => { if (!process.env.NODEWARD_TEST_GROUP) writeFileSync('${root.path}/begun', ''); });`,
    });
    await using run = await startRunner(root.path);
    const { server, folder } = await started(root.path);
    run.signal('SIGINT');
    const { code } = await run.exited;
    assert.equal(code, 10);
    assert.match(run.stdout, /\n0 passed, [3-9] failed, 0 skipped\n$/);
    assert.equal(existsSync(join(root.path, 'begun')), false);
    assert.equal(await isAlive(server), false);
    assert.equal(existsSync(folder), false);
  });

  test('ends when the file was run without the runner, and is killed', async () => {
    await using root = await temporaryFolder();
    const support = resolve(import.meta.dirname, '../../support/index.ts');
    const text = `import { writeFileSync } from 'node:fs';
import { startProcess } from '${support}';
test('a', async () => {
  const child = await startProcess('setsid', ['sleep', '1000']);
  writeFileSync('${root.path}/started', JSON.stringify({ server: child.pid, folder: '' }));
  ${killsItself}
});`;
    await writeTests(root.path, { 'unit/a.test.ts': text });
    const { NODEWARD_TEST_FILE: _, ...env } = runnerEnvironment();
    await runCommand(process.execPath, ['--test', join(root.path, 'test/unit/a.test.ts')], { env });
    await hasGone((await started(root.path)).server);
  });
});
