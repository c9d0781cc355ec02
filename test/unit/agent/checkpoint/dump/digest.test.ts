import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseCriuVersion, parseFrozenMs } from '../../../../../src/agent/checkpoint/dump/criu-stats.ts';
import { createDigester } from '../../../../../src/agent/checkpoint/dump/digest.ts';
import { startDigestThread } from '../../../../../src/agent/checkpoint/dump/digest-thread.ts';
import { createTarHeadReader } from '../../../../../src/agent/checkpoint/dump/tar-head-reader.ts';
import { temporaryFolder } from '../../../../support/index.ts';
import { tarArchive } from '../archives.ts';

const going = new AbortController().signal;

/** Several files in one archive; the end mark only once. */
function archiveOf(files: Readonly<Record<string, string>>): Buffer {
  const parts = Object.entries(files).map(([name, content]) =>
    Buffer.from(tarArchive(name, content)).subarray(0, -1024),
  );
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

describe('the digest of an archive', () => {
  for (const mebibytes of [0, 5]) {
    test(`of ${mebibytes} MiB and some is its SHA-256, its size and what was asked for of its files`, async () => {
      await using folder = await temporaryFolder();
      const path = join(folder.path, 'a.tar');
      const pages = 'x'.repeat(700_000 + mebibytes * 1024 * 1024);
      const bytes = archiveOf({ 'pages-1.img': pages, 'dump.log': 'Version: 4.2.1 and more', empty: '' });
      await writeFile(path, bytes);
      for (const expectedBytes of [0, 2 ** 30]) {
        await using digester = createDigester(expectedBytes);
        const order = { path, heads: ['dump.log', 'missing', 'empty'], maxHeadBytes: 14 };
        const { sha256, sizeBytes, heads } = await digester.digest(order, going);
        assert.equal(sha256, createHash('sha256').update(bytes).digest('hex'));
        assert.equal(sizeBytes, bytes.length);
        assert.deepEqual([...heads.keys()], ['dump.log']);
        assert.equal(Buffer.from(heads.get('dump.log') ?? []).toString(), 'Version: 4.2.1');
      }
    });
  }

  test('is an error that says why where the file cannot be read', async () => {
    await using folder = await temporaryFolder();
    await symlink('/etc/passwd', join(folder.path, 'link'));
    await using digester = createDigester(0);
    await using thread = startDigestThread();
    for (const [name, code] of [
      ['nowhere', 'ENOENT'],
      ['link', 'ELOOP'],
    ] as const) {
      const order = { path: join(folder.path, name), heads: [], maxHeadBytes: 1 };
      await assert.rejects(digester.digest(order, going), { code });
      const why = new RegExp(`^Error: the archive cannot be hashed: ${code}`);
      await assert.rejects(thread.digest(order, going), why);
    }
  });

  test('is given up when it is no longer wanted, and when its thread is gone', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a');
    await writeFile(path, 'some');
    const order = { path, heads: [], maxHeadBytes: 1 };
    await using digester = createDigester(0);
    await assert.rejects(digester.digest(order, AbortSignal.abort()), { name: 'AbortError' });
    const thread = startDigestThread();
    await assert.rejects(thread.digest(order, AbortSignal.abort()), /given up/);
    await thread[Symbol.asyncDispose]();
    await assert.rejects(thread.digest(order, going), /has ended/);
  });

  test('is made beside the event loop', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'a.tar');
    await writeFile(path, randomBytes(64 * 1024 * 1024));
    await using digester = createDigester(2 ** 30);
    let ticks = 0;
    const ticking = setInterval(() => (ticks += 1), 1);
    const usage = process.threadCpuUsage();
    try {
      const { sizeBytes } = await digester.digest({ path, heads: [], maxHeadBytes: 1 }, going);
      assert.equal(sizeBytes, 64 * 1024 * 1024);
    } finally {
      clearInterval(ticking);
    }
    const { user, system } = process.threadCpuUsage(usage);
    const hashing = createHash('sha256');
    const before = process.threadCpuUsage();
    hashing.update(Buffer.alloc(64 * 1024 * 1024));
    const own = process.threadCpuUsage(before);
    assert.ok(ticks > 0);
    assert.ok(user + system < own.user + own.system, 'the hash was computed on this thread');
  });
});

describe('the files in an archive', () => {
  test('are found whatever pieces it comes in', () => {
    const files = { a: 'first', 'dump.log': 'y'.repeat(5000), b: 'z'.repeat(512), 'stats-dump': 'last' };
    const bytes = archiveOf(files);
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 6000 }),
        (sizes, limit) => {
          const reader = createTarHeadReader(['dump.log', 'stats-dump'], limit);
          for (let at = 0, piece = 0; at < bytes.length; piece += 1) {
            const size = sizes[piece % sizes.length] ?? 1;
            reader.push(bytes.subarray(at, at + size));
            at += size;
          }
          const head = (name: string) => reader.heads.get(name)?.toString();
          assert.equal(head('dump.log'), files['dump.log'].slice(0, limit));
          assert.equal(head('stats-dump'), files['stats-dump'].slice(0, limit));
        },
      ),
    );
  });

  test('make no trouble when it is no archive', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 3000 }), (bytes) => {
        const reader = createTarHeadReader(['a'], 10);
        reader.push(bytes);
        assert.equal(reader.heads.size, 0);
      }),
    );
  });
});

describe('what criu has noted', () => {
  // as criu 4.2.1 wrote it for a container that it had frozen for 49,701 µs
  const stats = Buffer.from(
    '40591055063309572300' +
      '00000a2108870410a58403189e0a20ab01283030003822400048005008580860006800' +
      '7000',
    'hex',
  );

  test('is its version and how long it froze the container', () => {
    const log = Buffer.from('(00.000000) CRIU run id = 1\n(00.000070) Version: 4.2.1 (gitid 0)\n');
    assert.equal(parseCriuVersion(log), '4.2.1');
    assert.equal(parseFrozenMs(stats), 49.701);
  });

  test('may be missing or make no sense', () => {
    assert.equal(parseCriuVersion(undefined), '');
    assert.equal(parseCriuVersion(Buffer.from('nothing')), '');
    assert.equal(parseFrozenMs(undefined), undefined);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        const told = parseFrozenMs(Buffer.from(bytes));
        assert.ok(told === undefined || told >= 0);
      }),
    );
  });
});
