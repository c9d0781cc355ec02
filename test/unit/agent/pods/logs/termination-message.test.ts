import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  cutToBytes,
  messageBytesOf,
  readTerminationMessage,
} from '../../../../../src/agent/pods/logs/index.ts';
import { runSuccessfully, temporaryFolder } from '../../../../support/index.ts';

const time = '2026-11-22T13:49:50.055477856Z';

async function write(folder: string, name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const ofFile = (file: string, more = {}) =>
  readTerminationMessage({ file, policy: 'File', logPath: '', exitCode: 1, ...more });
const ofLog = (logPath: string, more = {}) =>
  readTerminationMessage({
    file: undefined,
    policy: 'FallbackToLogsOnError',
    logPath,
    exitCode: 1,
    ...more,
  });

describe('the last message of a container', () => {
  test('is the end of its file, behind what the runtime says', async () => {
    await using folder = await temporaryFolder();
    const short = await write(folder.path, 'short', 'bye');
    assert.equal(await ofFile(short), 'bye');
    assert.equal(await ofFile(short, { message: 'OCI failed' }), 'OCI failed: bye');
    assert.equal(await ofFile(join(folder.path, 'none'), { message: 'OCI failed' }), 'OCI failed');
    const long = await ofFile(await write(folder.path, 'long', `${'x'.repeat(5000)}end`));
    assert.equal(long.length, 4096);
    assert.ok(long.endsWith('end'));
  });

  test('has no half characters', async () => {
    await using folder = await temporaryFolder();
    const text = await ofFile(await write(folder.path, 'wide', `a${'€'.repeat(2000)}`));
    assert.equal(text, '€'.repeat(1365));
    assert.equal(cutToBytes('a€€', 5), 'a€');
    assert.equal(cutToBytes('a€', 4), 'a€');
    assert.equal(cutToBytes('', 0), '');
  });

  test('follows no link and waits for no pipe', async () => {
    await using folder = await temporaryFolder();
    await symlink('/etc/passwd', join(folder.path, 'link'));
    assert.match(await ofFile(join(folder.path, 'link')), /Error on reading termination log .*: ELOOP/);
    await runSuccessfully('mkfifo', [join(folder.path, 'pipe')]);
    assert.match(await ofFile(join(folder.path, 'pipe')), /not a regular file/);
    assert.match(await ofFile('/dev/zero'), /not a regular file/);
    assert.match(await ofFile(folder.path), /not a regular file/);
  });

  test('is the end of the log only after a failure, with that policy, and an empty file', async () => {
    await using folder = await temporaryFolder();
    const log = await write(folder.path, '0.log', `${time} stdout F one\n${time} stderr F two\n`);
    assert.equal(await ofLog(log), 'one\ntwo\n');
    assert.equal(await ofLog(log, { exitCode: 0 }), '');
    assert.equal(await ofLog(log, { policy: 'File' }), '');
    assert.equal(await ofLog(log, { file: await write(folder.path, 'empty', '') }), 'one\ntwo\n');
    assert.equal(await ofLog(log, { file: await write(folder.path, 'full', 'own') }), 'own');
  });

  test('of a log: 80 lines and 2048 bytes at most, pieces joined, broken lines left out', async () => {
    await using folder = await temporaryFolder();
    const lines = Array.from({ length: 200 }, (_, index) => `${time} stdout F ${index}\n`).join('');
    const last = await ofLog(await write(folder.path, 'lines', lines));
    assert.deepEqual(
      last.trimEnd().split('\n'),
      Array.from({ length: 80 }, (_, index) => String(index + 120)),
    );
    const pieces = `${time} stdout P a\n${time} stdout P:x b\n${time} stdout F c\nbroken\n${time} stderr P end`;
    assert.equal(await ofLog(await write(folder.path, 'pieces', pieces)), 'abc\nend');
    const long = `${time} stdout P ${'x'.repeat(16_384)}\n${time} stdout F ${'y'.repeat(3000)}€\n`;
    const cut = await ofLog(await write(folder.path, 'long', long.repeat(5)));
    assert.equal(cut, `${'y'.repeat(2044)}€\n`);
  });

  test('of a log that was rotated just before: what is missing is at the end of the rotated one', async () => {
    await using folder = await temporaryFolder();
    const numbered = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `${time} stdout F ${from + index}\n`).join('');
    const texts = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `${from + index}\n`).join('');
    const log = join(folder.path, '3.log');
    await write(folder.path, '3.log.20260101-000000', numbered(0, 50));
    await write(folder.path, '3.log.20260101-000001', numbered(50, 200));
    await write(folder.path, '2.log.20260101-000002', numbered(900, 999));
    assert.equal(await ofLog(log), texts(120, 200), 'the current one is not there yet');
    await write(folder.path, '3.log', '');
    assert.equal(await ofLog(log), texts(120, 200));
    await write(folder.path, '3.log', numbered(200, 230));
    assert.equal(await ofLog(log), texts(150, 230));
    const long = `${time} stdout F ${'x'.repeat(16_000)}\n`;
    await write(folder.path, '3.log', long.repeat(5));
    assert.equal((await ofLog(log)).length, 2048);
    await symlink('/etc/passwd', join(folder.path, '3.log.20260101-000009'));
    await write(folder.path, '3.log', numbered(1, 2));
    assert.equal(await ofLog(log), '1\n', 'no link is followed');
  });

  test('shares the limit of its pod', () => {
    assert.deepEqual([0, 1, 3, 12].map(messageBytesOf), [12_288, 12_288, 4096, 1024]);
  });
});
