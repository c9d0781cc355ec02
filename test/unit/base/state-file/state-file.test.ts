import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, chown, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { Clock, Logger } from '../../../../src/base/index.ts';
import { createLogger, silentLogger, systemClock, writeFileAtomic } from '../../../../src/base/index.ts';
import type { StateFile } from '../../../../src/base/state-file/index.ts';
import { openStateFile, removeStateFile, StateWriteError } from '../../../../src/base/state-file/index.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

interface Name {
  name: string;
}

interface Options {
  clock?: Clock;
  log?: Logger;
  limitBytes?: number;
  writeFile?: (path: string, text: string) => Promise<void>;
}

function open(path: string, options: Options = {}): StateFile<Name> {
  return openStateFile({
    path,
    what: 'the name',
    parse({ name }) {
      if (typeof name !== 'string') throw new Error('has no name');
      return { name };
    },
    clock: systemClock,
    log: silentLogger(),
    ...options,
  });
}

test('what is written is read by the next start, and the file is private', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'made-for-it', 'state');
  await using file = open(path);
  assert.deepEqual(await file.read(), { state: 'absent' });
  await file.write({ name: 'first' });
  assert.deepEqual(await open(path).read(), { state: 'value', value: { name: 'first' } });
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test('writes go one after another, and of those that wait only the last one is made', async () => {
  await using folder = await temporaryFolder();
  const written: string[] = [];
  let underWay = 0;
  await using file = open(join(folder.path, 'state'), {
    async writeFile(path, text) {
      underWay += 1;
      assert.equal(underWay, 1, 'two writes at once');
      await writeFileAtomic(path, text);
      written.push(JSON.parse(text).name);
      underWay -= 1;
    },
  });
  await Promise.all(Array.from({ length: 100 }, (_, index) => file.write({ name: `name ${index}` })));
  assert.deepEqual(written, ['name 0', 'name 99']);
});

for (const [what, damage] of [
  ['cut off', (path: string) => writeFile(path, '{"formatVersion":1,"na', { mode: 0o600 })],
  ['empty', (path: string) => writeFile(path, '', { mode: 0o600 })],
  ['changed by hand', changeName],
  ['of the right form and the wrong content', (path: string) => writeWrongContent(path)],
  ['too long', (path: string) => writeFile(path, 'x'.repeat(2000), { mode: 0o600 })],
  ['deeply nested', (path: string) => writeFile(path, '['.repeat(900), { mode: 0o600 })],
  ['a link', (path: string) => symlink('/etc/passwd', path)],
  ['a FIFO', async (path: string) => void execFileSync('mkfifo', [path])],
  ['a folder', (path: string) => mkdir(path)],
  ['open to the writing of others', openToOthers],
] as const) {
  test(`a file that is ${what} is set aside, told, and written anew`, async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'state');
    await damage(path);
    const lines: string[] = [];
    await using file = open(path, { log: logInto(lines), limitBytes: 1000 });

    const found = await file.read();

    assert.equal(found.state, 'damaged');
    assert.match(
      found.state === 'damaged' ? (found.keptAs ?? '') : '',
      /\/state\.damaged-\d{8}T\d{6}\.\d{3}Z$/,
    );
    assert.equal(lines.filter((line) => line.includes('set aside')).length, 1);
    assert.deepEqual(await file.read(), { state: 'absent' });
    await file.write({ name: 'new' });
    assert.deepEqual(await file.read(), { state: 'value', value: { name: 'new' } });
    assert.ok(
      (await readFile('/etc/passwd', 'utf8')).includes('root'),
      'what a link leads to stays as it was',
    );
  });
}

test('a file of another user is not believed', async (context) => {
  if (process.geteuid?.() !== 0) return context.skip('only root can give a file away');
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  await open(path).write({ name: 'mine' });
  await chown(path, 65_534, 65_534);
  const found = await open(path).read();
  assert.match(found.state === 'damaged' ? found.reason : found.state, /belongs to user 65534/);
});

test('of what was set aside the latest three are kept', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  const clock = createManualClock();
  for (let round = 0; round < 7; round += 1) {
    await writeFile(path, `damage ${round}`, { mode: 0o600 });
    await open(path, { clock }).read();
    if (round % 2 === 0) await clock.advance(1000); // twice within a millisecond, too
  }
  const kept = (await readdir(folder.path)).sort();
  const texts = await Promise.all(kept.map((name) => readFile(join(folder.path, name), 'utf8')));
  assert.deepEqual(texts.sort(), ['damage 4', 'damage 5', 'damage 6']);
});

test('what was set aside last is kept, also when the clock went back', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  const clock = createManualClock();
  for (let round = 0; round < 4; round += 1) {
    await writeFile(path, `damage ${round}`, { mode: 0o600 });
    if (round === 3) clock.setWall(-86_400_000);
    const found = await open(path, { clock }).read();
    const keptAs = found.state === 'damaged' ? (found.keptAs ?? '') : '';
    assert.equal(await readFile(keptAs, 'utf8'), `damage ${round}`);
    await clock.advance(1000);
  }
  assert.equal((await readdir(folder.path)).length, 3);
});

test('drafts that a killed writer left are removed, and nothing else', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  const other = '.state2.17.0b5f6a5e-5a3c-4a7e-8a60-3d2b6f0f8d11.tmp';
  await writeFile(join(folder.path, '.state.17.0b5f6a5e-5a3c-4a7e-8a60-3d2b6f0f8d11.tmp'), 'half');
  await writeFile(join(folder.path, other), 'of somebody else');
  await open(path).read();
  assert.deepEqual(await readdir(folder.path), [other]);
});

test('a full disk is told once, the newest state is tried again, and it is told when it is there', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  const lines: string[] = [];
  const clock = createManualClock();
  let isFull = true;
  await using file = open(path, {
    clock,
    log: logInto(lines),
    async writeFile(target, text) {
      if (isFull)
        throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
      await writeFileAtomic(target, text);
    },
  });

  await assert.rejects(file.write({ name: 'first' }), (error) => {
    assert.ok(error instanceof StateWriteError);
    assert.match(error.message, /^cannot keep the name in .*: its file system is full; make room there$/);
    return true;
  });
  await assert.rejects(file.write({ name: 'second' }), StateWriteError);
  assert.match(file.problem ?? '', /full/);
  await clock.advance(60_000);
  assert.equal(lines.length, 1);

  isFull = false;
  await clock.advance(60_000);
  await waitForName(path, 'second');
  await waitFor('the log to tell of it', () => lines.length === 2); // the file is in place before its folder is synced
  assert.match(lines[1] ?? '', /written to .* again/);
  assert.equal(file.problem, undefined);
});

test('a file system that is really full keeps the old state', async (context) => {
  await using folder = await temporaryFolder();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', folder.path], { stdio: 'ignore' });
  } catch {
    return context.skip('no file system can be mounted here');
  }
  try {
    const path = join(folder.path, 'state');
    await using file = open(path);
    await file.write({ name: 'old' });
    await assert.rejects(file.write({ name: 'x'.repeat(200_000) }), /full/);
    assert.deepEqual(await file.read(), { state: 'value', value: { name: 'old' } });
    execFileSync('mount', ['-o', 'remount,ro', folder.path]);
    await assert.rejects(file.write({ name: 'new' }), /read-only/);
    execFileSync('mount', ['-o', 'remount,rw', folder.path]);
    await file.write({ name: 'newer' });
    assert.deepEqual(await file.read(), { state: 'value', value: { name: 'newer' } });
  } finally {
    execFileSync('umount', ['--lazy', folder.path]);
  }
});

test('closing tries once more, and then lets go', async () => {
  await using folder = await temporaryFolder();
  let tries = 0;
  const file = open(join(folder.path, 'state'), {
    clock: createManualClock(),
    async writeFile() {
      tries += 1;
      throw new Error('broken');
    },
  });
  await assert.rejects(file.write({ name: 'first' }), /broken/);
  await file[Symbol.asyncDispose]();
  assert.equal(tries, 2);
  await assert.rejects(file.write({ name: 'late' }), /is closed/);
});

test('a state that is longer than what would be read is not written', async () => {
  await using folder = await temporaryFolder();
  await using file = open(join(folder.path, 'state'), { limitBytes: 100 });
  await assert.rejects(file.write({ name: 'x'.repeat(100) }), /longer than 100 bytes/);
});

test('a state file that has no meaning any more is removed, also when there is none', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'state');
  await open(path).write({ name: 'x' });
  await removeStateFile(path);
  await removeStateFile(path);
  assert.deepEqual(await readdir(folder.path), []);
});

async function changeName(path: string): Promise<void> {
  await open(path).write({ name: 'before' });
  await writeFile(path, (await readFile(path, 'utf8')).replace('before', 'behind'));
}

async function writeWrongContent(path: string): Promise<void> {
  await using other = openStateFile({
    path,
    what: 'numbers',
    parse: (members) => members,
    clock: systemClock,
    log: silentLogger(),
  });
  await other.write({ number: 1 });
}

async function openToOthers(path: string): Promise<void> {
  await open(path).write({ name: 'before' });
  await chmod(path, 0o666);
}

async function waitForName(path: string, name: string): Promise<void> {
  await waitFor(`${name} in the file`, async () =>
    (await readFile(path, 'utf8').catch(() => '')).includes(`"${name}"`),
  );
}

function logInto(lines: string[]): Logger {
  const output = new Writable({
    write(line, _encoding, done) {
      lines.push(JSON.parse(String(line)).msg);
      done();
    },
  });
  return createLogger({ format: 'json', level: 'info', output });
}

test('a folder that somebody else makes at the same time is no failure', async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, 'made-by-others', 'state');
  let tries = 0;
  await using file = open(path, {
    async writeFile(at, text) {
      tries += 1;
      if (tries === 1) {
        await mkdir(join(folder.path, 'made-by-others'));
        throw Object.assign(new Error('no such folder'), { code: 'ENOENT' });
      }
      await writeFileAtomic(at, text);
    },
  });
  await file.write({ name: 'first' });
  assert.equal(tries, 2);
});
