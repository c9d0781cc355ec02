/** Archives that somebody has made to do harm, or that a disk has spoilt. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { ArchiveContents } from '../../../../../src/agent/checkpoint/archive/index.ts';
import { ArchiveError, createArchiveReader } from '../../../../../src/agent/checkpoint/archive/index.ts';
import { limits } from '../../../../../src/agent/checkpoint/archive/limits.ts';
import type { TarFile } from './archives.ts';
import { checkpoint, rawImage, tar, tarParts, text } from './archives.ts';

async function read(...parts: Iterable<Uint8Array>[]): Promise<ArchiveContents> {
  const reader = await createArchiveReader({ what: 'it' });
  for (const part of parts) for (const bytes of part) await reader.push(bytes);
  return await reader.end();
}

/** The checkpoint with a file put in place of its own. */
const spoilt = (...files: TarFile[]): Promise<ArchiveContents> => {
  const names = new Set(files.map(({ name }) => name));
  return read([tar([...checkpoint().filter(({ name }) => !names.has(name)), ...files])]);
};

const sample = tar(checkpoint({ pages: 1 }));

/** Either an answer or a refusal that says what is wrong; nothing else may come. */
async function outcome(bytes: Uint8Array): Promise<ArchiveContents | ArchiveError> {
  return await read([bytes]).catch((error: unknown) => {
    assert.ok(error instanceof ArchiveError, String(error));
    assert.match(error.message, /^it /);
    return error;
  });
}

describe('spoilt archives', () => {
  test('with some bits turned around are answered or refused', async () => {
    const flips = fc.array(fc.tuple(fc.nat(sample.length - 1), fc.nat(7)), { minLength: 1, maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(flips, async (turned) => {
        const bytes = Buffer.from(sample);
        for (const [at, bit] of turned) bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        await outcome(bytes);
      }),
      { numRuns: 250 },
    );
  });

  test('with some bytes put in or taken out are answered or refused', async () => {
    const change = fc.tuple(fc.nat(sample.length), fc.nat(2000), fc.uint8Array({ maxLength: 600 }));
    await fc.assert(
      fc.asyncProperty(change, async ([at, without, bytes]) => {
        await outcome(Buffer.concat([sample.subarray(0, at), bytes, sample.subarray(at + without)]));
      }),
      { numRuns: 150 },
    );
  });

  test('that end in the middle are never called whole', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(sample.length - 1025), async (length) => {
        const answer = await outcome(sample.subarray(0, length));
        if (answer instanceof ArchiveError) return;
        assert.equal(answer.archive.whole, false);
        assert.ok(
          answer.notes.some((note) => note.includes('ends in the middle')),
          answer.notes.join('\n'),
        );
      }),
      { numRuns: 150 },
    );
  });

  test('with rubbish for messages say which image it is, and answer the rest', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 3000 }), async (bytes) => {
        const kinds = [
          rawImage('mm-1.img', 'memory', [bytes]),
          rawImage('files.img', 'files', [bytes, bytes]),
          rawImage('core-1.img', 'core', [bytes]),
        ];
        const { processes, container } = await spoilt(...kinds);
        assert.deepEqual([processes.length, container.name], [2, 'main']);
      }),
      { numRuns: 100 },
    );
    const { notes } = await spoilt(rawImage('files.img', 'files', [Buffer.from([0x0a, 0xff])]));
    assert.match(notes.join('\n'), /^files\.img is not understood: /m);
  });
});

describe('what is not known', () => {
  const notesOn = async (...files: TarFile[]) => (await spoilt(...files)).notes.join('\n');

  test('an image of another kind than its name says', async () => {
    const other = { ...rawImage('pagemap-1.img', 'mounts', []), name: 'checkpoint/pagemap-1.img' };
    assert.match(await notesOn(other), /pagemap-1\.img is not understood: it is no image of this kind \(0x/);
  });

  test('a later version of the images is read as far as it goes', async () => {
    const { notes, processes } = await spoilt(rawImage('inventory.img', 'inventory', [Buffer.from([8, 9])]));
    assert.match(notes.join('\n'), /the images are of version 9; versions up to 2 are known/);
    assert.equal(processes.length, 2);
  });

  test('an image that ends in the middle, and one with a message that is too large', async () => {
    const image = rawImage('mm-1.img', 'memory', [Buffer.alloc(100)]);
    assert.match(await notesOn({ ...image, bytes: image.bytes.subarray(0, 50) }), /mm-1.*ends in the middle/);
    const large = Buffer.from(image.bytes);
    large.writeUInt32LE(0xffff_fff0, 8);
    assert.match(await notesOn({ ...image, bytes: large }), /a message of 4294967280 bytes is too large/);
  });

  test('descriptions that are no JSON, or too long, or nested without end', async () => {
    for (const content of ['{', '[]', ' '.repeat(limits.documentBytes + 1), '['.repeat(1_000_000)]) {
      assert.match(await notesOn(text('spec.dump', content)), /spec\.dump is not understood/);
    }
  });

  test('changed files that are no archive', async () => {
    for (const bytes of [
      Buffer.alloc(2000, 'a'),
      gzipSync('a'.repeat(2000)),
      Buffer.from([0x1f, 0x8b, 1, 2, 3]),
    ]) {
      const { notes, processes } = await spoilt({ name: 'rootfs-diff.tar', bytes });
      assert.match(notes.join('\n'), /rootfs-diff\.tar/);
      assert.equal(processes.length, 2);
    }
  });

  test('processes in a circle, without a parent, and two that are one', async () => {
    const message = (pid: number, ppid: number) => Buffer.from([8, pid, 16, ppid]);
    const tree = [message(1, 2), message(2, 1), message(3, 99), message(4, 3), message(4, 3)];
    const { processes } = await spoilt(rawImage('pstree.img', 'tree', tree));
    assert.deepEqual(processes.map(({ pid }) => pid).sort(), [1, 2, 3, 4]);
  });
});

describe('archives that would fill memory or take for ever', () => {
  const memoryOf = async (work: () => Promise<void>): Promise<number> => {
    const before = process.memoryUsage().rss;
    await work();
    return process.memoryUsage().rss - before;
  };

  function* repeated(bytes: Uint8Array, times: number): Generator<Uint8Array> {
    for (let done = 0; done < times; done++) yield bytes;
  }

  test('pages pass by, however many', async () => {
    const mebibyte = Buffer.alloc(1024 * 1024);
    const pages = { name: 'checkpoint/pages-1.img', bytes: Buffer.alloc(0), size: 512 * mebibyte.length };
    const grown = await memoryOf(async () => {
      const { archive } = await read(tarParts(pages), repeated(mebibyte, 512), [tar(checkpoint())]);
      assert.equal(archive.whole, true);
      assert.ok(archive.pagesBytes > 512 * mebibyte.length);
    });
    assert.ok(grown < 200 * 1024 * 1024, `${grown}`);
  });

  test('entries are not read on after the most that are allowed', async () => {
    const many = Buffer.concat(repeated(Buffer.concat(tarParts(text('a'.repeat(90), ''))), 1000).toArray());
    const { archive, notes } = await read([...checkpoint().flatMap(tarParts)], repeated(many, 1001));
    assert.equal(archive.whole, false);
    assert.match(notes.join('\n'), /it has more than 500000 files; the rest was not read/);
  });

  test('files that unpack to very much more are given up', async () => {
    const member = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    const head = gzipSync(tarParts({ name: 'zeros', bytes: Buffer.alloc(0), size: 1e12 })[0] ?? '');
    const bytes = Buffer.concat([head, ...repeated(member, 100)]);
    const grown = await memoryOf(async () => {
      const { notes } = await spoilt({ name: 'rootfs-diff.tar', bytes });
      assert.match(
        notes.join('\n'),
        /rootfs-diff\.tar is not understood: it has \d{10} bytes unpacked, and more/,
      );
    });
    assert.ok(grown < 200 * 1024 * 1024, `${grown}`);
  });

  test('a file with a size that is none, or a name that is too long', async () => {
    const negative = tarParts(text('checkpoint/pages-2.img', ''))[0];
    assert.ok(negative);
    negative.fill(0xff, 124, 136);
    negative.fill(' ', 148, 156);
    negative.write(
      `${negative
        .reduce((sum, byte) => sum + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    const first = await read([...checkpoint().flatMap(tarParts), negative, tar([])]);
    assert.match(first.notes.join('\n'), /a file has a size that is none; the rest was not read/);
    assert.equal(first.archive.whole, false);
    const path = `checkpoint/${'deep/'.repeat(2000)}core-1.img`;
    const record = `${path.length + 12} path=${path}\n`;
    const header = { name: 'pax', bytes: Buffer.from(record), type: 'ExtendedHeader' as const };
    const second = await read([...tarParts(header), ...tarParts(text('short', '')), tar(checkpoint())]);
    assert.match(second.notes.join('\n'), /a name that is too long/);
    assert.equal(second.archive.whole, true);
  });

  test('headers that are lengthened by anything', async () => {
    const key = fc.constantFrom('path', 'size', 'linkpath', 'mtime', 'mode', 'type', 'uid', 'x');
    const value = fc.oneof(
      fc.constantFrom('-5', 'abc', '1e9', '99999999999999999999999', '', '0', 'NaN', '../../x', '\0'),
      fc.string({ unit: 'binary', maxLength: 30 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(key, value), { maxLength: 4 }), async (pairs) => {
        const records = pairs.map(([name, content]) => {
          const rest = ` ${name}=${content}\n`;
          return `${Buffer.byteLength(rest) + 2}${rest}`;
        });
        const header = { name: 'pax', bytes: Buffer.from(records.join('')), type: 'ExtendedHeader' as const };
        await outcome(Buffer.concat([...tarParts(header), ...tarParts(text('file', 'x')), sample]));
      }),
      { numRuns: 150 },
    );
  });

  test('areas, runs and open files without end', async () => {
    const areas = Buffer.alloc(limits.messageBytes);
    for (let at = 0; at < areas.length; at += 2) areas[at] = (14 << 3) | 2;
    const empty = Array.from({ length: 300_000 }, () => Buffer.alloc(0));
    const { notes, processes } = await spoilt(
      rawImage('mm-1.img', 'memory', [areas]),
      rawImage('files.img', 'files', empty),
      rawImage('fdinfo-2.img', 'descriptors', empty),
    );
    assert.match(notes.join('\n'), /there are more than 2000000 areas of memory/);
    assert.match(notes.join('\n'), /there are more than 200000 open files/);
    assert.ok((processes[0]?.files.length ?? 0) <= limits.openFiles);
  });

  test('thousands of broken headers', async () => {
    const rubbish = Buffer.alloc(512 * 2000, 'rubbish');
    const { notes, archive } = await read([...checkpoint().flatMap(tarParts), rubbish]);
    assert.match(notes.join('\n'), /too much of it is broken; the rest was not read/);
    assert.equal(archive.whole, false);
    assert.ok(notes.length <= limits.notes + 1);
  });
});
