import assert from 'node:assert/strict';
import { appendFile, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { LogQuery } from '../../../../../src/agent/pods/log-reader/index.ts';
import { readLog } from '../../../../../src/agent/pods/log-reader/index.ts';
import { openFolderBelow } from '../../../../../src/agent/pods/logs/index.ts';
import { rotateLog, tidyLogs } from '../../../../../src/agent/pods/logs/rotate.ts';
import { systemClock } from '../../../../../src/base/index.ts';
import { temporaryFolder, waitFor } from '../../../../support/index.ts';

const limit = { timeout: 20_000 };
const everything: LogQuery = {
  ...{ hasTimestamps: false, sinceMs: undefined, stream: 'All' },
  ...{ tailRecords: undefined, limitBytes: undefined, isFollowed: false },
};
const startMs = Date.UTC(2026, 10, 22, 13, 49, 50);

/** Records of whole lines, one a second from `from` on. */
function records(lines: readonly string[], from = 0, stream = 'stdout'): string {
  return lines
    .map((line, at) => `${new Date(startMs + (from + at) * 1000).toISOString()} ${stream} F ${line}\n`)
    .join('');
}

/** A container's log, which can be followed and rotated. */
async function startLog(files: Record<string, string | Buffer>) {
  const root = await temporaryFolder();
  const path = join(root.path, 'pod/main');
  await mkdir(path, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(path, name), text);
  const folder = await openFolderBelow(root.path, ['pod', 'main']);
  const end = new AbortController();
  const listeners = new Set<() => void>();
  let hasEnded = false;
  let rotations = 0;
  return {
    path,
    folder,
    append: (text: string) => appendFile(join(path, '0.log'), text),
    rotate: () =>
      rotateLog({
        ...{ folder, log: '0.log', nowMs: startMs + 3_600_000 * ++rotations },
        reopen: () => writeFile(join(path, '0.log'), ''),
      }),
    endContainer() {
      hasEnded = true;
      for (const listener of listeners) listener();
    },
    abort: () => end.abort(),
    read(query: Partial<LogQuery> = {}): AsyncGenerator<Buffer> {
      const source = {
        ...{ folder, log: '0.log', hasEnded: () => hasEnded },
        onChange(listener: () => void) {
          listeners.add(listener);
          return { [Symbol.dispose]: () => listeners.delete(listener) };
        },
      };
      return readLog(source, { ...everything, ...query }, { clock: systemClock, signal: end.signal });
    },
    listening: () => listeners.size,
    async [Symbol.asyncDispose]() {
      end.abort();
      await folder[Symbol.asyncDispose]();
      await root[Symbol.asyncDispose]();
    },
  };
}

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return Buffer.concat(all).toString();
}

/** What a follower has got by now; `done` is settled when the log has ended for it. */
function collect(pieces: AsyncIterable<Buffer>) {
  const got = { text: '', done: Promise.resolve() };
  got.done = (async () => {
    for await (const piece of pieces) got.text += piece.toString();
  })();
  return got;
}

const lines = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `line ${from + at}`);
const joined = (from: number, to: number) =>
  lines(from, to)
    .map((line) => `${line}\n`)
    .join('');

describe('what a container wrote', limit, () => {
  test('is given out without what stands before it', async () => {
    await using log = await startLog({ '0.log': records(['one', '', 'two  words ']) });
    assert.equal(await textOf(log.read()), 'one\n\ntwo  words \n');
  });

  test('with times of nine digits, once a line', async () => {
    const text = [
      '2026-11-22T13:49:50Z stdout F no fraction',
      '2026-11-22T13:49:50.12+01:00 stdout F two digits and a zone',
      '2026-11-22T13:49:50.1234567891Z stdout F ten',
      '2026-11-22T13:49:51.000000001Z stdout P begin, ',
      '2026-11-22T13:49:52.000000002Z stdout P middle, ',
      '2026-11-22T13:49:53.000000003Z stdout F end',
      '2026-11-22T13:49:54.000000004Z stderr F ',
    ];
    await using log = await startLog({ '0.log': `${text.join('\n')}\n` });
    assert.equal(
      await textOf(log.read({ hasTimestamps: true })),
      [
        '2026-11-22T13:49:50.000000000Z no fraction',
        '2026-11-22T13:49:50.120000000+01:00 two digits and a zone',
        '2026-11-22T13:49:50.123456789Z ten',
        '2026-11-22T13:49:51.000000001Z begin, middle, end',
        '2026-11-22T13:49:54.000000004Z \n',
      ].join('\n'),
    );
  });

  test('of one of its streams', async () => {
    const text = `${records(['out'])}${records(['err'], 1, 'stderr')}${records(['again'], 2)}`;
    await using log = await startLog({ '0.log': text });
    assert.equal(await textOf(log.read({ stream: 'Stdout' })), 'out\nagain\n');
    assert.equal(await textOf(log.read({ stream: 'Stderr' })), 'err\n');
  });

  test('what is no record is given out as it is', async () => {
    const odd = [
      'garbage',
      '',
      'x stdout F y',
      '2026-11-22T13:49:50Z stdall F y',
      '2026-11-22T13:49:50Z stdout',
    ];
    await using log = await startLog({ '0.log': `${odd.join('\n')}\n${records(['good'])}` });
    assert.equal(
      await textOf(log.read({ hasTimestamps: true })),
      `${odd.join('\n')}\n2026-11-22T13:49:50.000000000Z good\n`,
    );
  });

  test('a record of which the end is missing is left out until it is there', async () => {
    await using log = await startLog({ '0.log': `${records(['one'])}2026-11-22T13:49:51Z stdout F tw` });
    assert.equal(await textOf(log.read()), 'one\n');
    await log.append('o\n');
    assert.equal(await textOf(log.read()), 'one\ntwo\n');
  });

  test('a line of megabytes in pieces of any size is one line', async () => {
    const pieces = Array.from({ length: 300 }, (_, at) => `${at}`.padEnd(16_384, 'x'));
    const text = pieces.map((piece) => `2026-11-22T13:49:50.5Z stdout P ${piece}\n`).join('');
    await using log = await startLog({ '0.log': `${text}2026-11-22T13:49:50.5Z stdout F end\n` });
    assert.equal(await textOf(log.read()), `${pieces.join('')}end\n`);
  });

  test('what no runtime writes, megabytes without an end of line, takes no more memory than that', async () => {
    const text = 'x'.repeat(5 * 1024 * 1024);
    await using log = await startLog({ '0.log': `${text}\n` });
    assert.equal(await textOf(log.read()), `${text}\n`);
  });

  test('of a pod with no log yet, nothing', async () => {
    await using log = await startLog({});
    assert.equal(await textOf(log.read()), '');
  });

  test('a link in the place of a log is not followed', async () => {
    await using log = await startLog({});
    await symlink('/etc/passwd', join(log.path, '0.log'));
    await assert.rejects(textOf(log.read()), { code: 'ELOOP' });
  });
});

describe('the newest of it', limit, () => {
  const files = {
    '0.log.20261122-000001.gz': gzipSync(records(lines(0, 1000))),
    '0.log.20261122-000002.gz': gzipSync(records(lines(1000, 2000), 1000)),
    '0.log.20261122-000003': records(lines(2000, 3000), 2000),
    '0.log': records(lines(3000, 4000), 3000),
  };

  test('all, with what was rotated and compressed, in order', async () => {
    await using log = await startLog(files);
    assert.equal(await textOf(log.read()), joined(0, 4000));
  });

  for (const count of [0, 1, 2, 999, 1000, 1001, 1999, 2000, 2001, 3000, 3500, 3999, 4000, 4001, 1e9]) {
    test(`${count} records`, async () => {
      await using log = await startLog(files);
      assert.equal(await textOf(log.read({ tailRecords: count })), joined(Math.max(0, 4000 - count), 4000));
    });
  }

  test('pieces of a line count each', async () => {
    const text = ['P a', 'P b', 'F c'].map((rest) => `2026-11-22T13:49:50Z stdout ${rest}\n`).join('');
    await using log = await startLog({ '0.log': text });
    assert.equal(await textOf(log.read({ tailRecords: 2 })), 'bc\n');
  });

  test('since a time, in a file and between files', async () => {
    await using log = await startLog(files);
    for (const from of [0, 1, 999, 1000, 2500, 3999])
      assert.equal(await textOf(log.read({ sinceMs: startMs + from * 1000 })), joined(from, 4000), `${from}`);
    assert.equal(await textOf(log.read({ sinceMs: startMs + 4000 * 1000 })), '');
  });

  test('so many bytes, times counted', async () => {
    await using log = await startLog(files);
    assert.equal(await textOf(log.read({ limitBytes: 10 })), joined(0, 4000).slice(0, 10));
    assert.equal(await textOf(log.read({ limitBytes: 5, hasTimestamps: true })), '2026-');
    assert.equal((await textOf(log.read({ limitBytes: 30_000 }))).length, 30_000);
    assert.equal(await textOf(log.read({ tailRecords: 2, limitBytes: 3 })), 'lin');
  });

  test('of a compressed file that is damaged, what can be read, and all that comes behind it', async () => {
    const whole = files['0.log.20261122-000001.gz'];
    const damaged = whole.subarray(0, whole.length - 20);
    await using log = await startLog({ ...files, '0.log.20261122-000001.gz': damaged });
    const text = await textOf(log.read());
    assert.match(text, /^line 0\n/);
    assert.ok(text.endsWith(joined(1000, 4000)));
  });
});

describe('a log that is followed', limit, () => {
  test('as it is written, until the container ends', async () => {
    await using log = await startLog({ '0.log': records(['one']) });
    const got = collect(log.read({ isFollowed: true }));
    await waitFor('what was written', () => got.text === 'one\n');
    await log.append(records(['two'], 1));
    await waitFor('what was written', () => got.text === 'one\ntwo\n');
    await log.append(records(['three'], 2));
    log.endContainer();
    await got.done;
    assert.equal(got.text, 'one\ntwo\nthree\n');
  });

  test('of a container that has ended, what there is', async () => {
    await using log = await startLog({ '0.log': records(['one']) });
    log.endContainer();
    assert.equal(await textOf(log.read({ isFollowed: true, tailRecords: 5 })), 'one\n');
  });

  test('that is not there yet', async () => {
    await using log = await startLog({});
    const got = collect(log.read({ isFollowed: true }));
    await log.append(records(['one']));
    await waitFor('what was written', () => got.text === 'one\n');
    log.endContainer();
    await got.done;
  });

  test('through rotations, with what a runtime writes to a file that was rotated', async () => {
    await using log = await startLog({ '0.log': records(lines(0, 2)) });
    const got = collect(log.read({ isFollowed: true, tailRecords: 1 }));
    await waitFor('what was written', () => got.text === joined(1, 2));
    await log.rotate();
    const [rotated = ''] = (await readdir(log.path)).filter((name) => name !== '0.log');
    await appendFile(join(log.path, rotated), records(['line 2'], 2));
    await log.append(records(['line 3'], 3));
    await waitFor('what was written', () => got.text === joined(1, 4));
    await log.rotate();
    await log.append(records(['line 4'], 4));
    await waitFor('what was written', () => got.text === joined(1, 5));
    log.endContainer();
    await got.done;
  });

  test('by a reader who falls behind by several rotations, some of them compressed', async () => {
    const big = (from: number) => records(lines(from, from + 20_000), from);
    await using log = await startLog({ '0.log': big(0) });
    const reading = log.read({ isFollowed: true });
    let text = (await reading.next()).value?.toString() ?? ''; // and takes no more for now
    for (let round = 1; round <= 4; round += 1) {
      await log.rotate();
      await log.append(big(round * 20_000));
      await tidyLogs(log.folder, '0.log', () => 10, new AbortController().signal);
    }
    log.endContainer();
    for await (const piece of reading) text += piece.toString();
    assert.equal(text, joined(0, 100_000));
  });

  test('when its rotation has failed, so that it was put back', async () => {
    await using log = await startLog({ '0.log': records(['one']) });
    const got = collect(log.read({ isFollowed: true }));
    await waitFor('what was written', () => got.text === 'one\n');
    await rename(join(log.path, '0.log'), join(log.path, '0.log.20261122-000009'));
    await new Promise((resolve) => setImmediate(resolve));
    await rename(join(log.path, '0.log.20261122-000009'), join(log.path, '0.log'));
    await log.append(records(['two'], 1));
    await waitFor('what was written', () => got.text === 'one\ntwo\n');
    await log.rotate();
    await log.append(records(['three'], 2));
    await waitFor('what was written', () => got.text === 'one\ntwo\nthree\n');
    log.endContainer();
    await got.done;
  });

  test('ends when its reader goes, and leaves nothing open', async () => {
    await using log = await startLog({ '0.log': records(['one']) });
    const before = (await readdir('/proc/self/fd')).length;
    const got = collect(log.read({ isFollowed: true }));
    await waitFor('what was written', () => got.text === 'one\n');
    assert.equal(log.listening(), 1);
    log.abort();
    await got.done;
    assert.equal(log.listening(), 0);
    assert.ok((await readdir('/proc/self/fd')).length <= before + 1); // inotify stays once it was used
  });

  test('that is removed, with its folder, while the container ends', async () => {
    await using log = await startLog({ '0.log': records(['one']) });
    const got = collect(log.read({ isFollowed: true }));
    await waitFor('what was written', () => got.text === 'one\n');
    await rm(log.path, { recursive: true });
    log.endContainer();
    await got.done;
    assert.equal(got.text, 'one\n');
  });
});
