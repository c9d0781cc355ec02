/**
 * A snapshot: all objects at one revision, in the order of their keys. It consists of lines of JSON, so that people can
 * read it; the line of each object is followed by its stored bytes and a line end:
 *
 *     {"nodeward":"snapshot","format":1,"groupSuffix":"k8s.io","revision":4711}
 *     {"key":"/registry/…","revision":17,"createRevision":9,"bytes":212}
 *     …212 bytes…
 *     {"objects":1,"sha256":"…of all before this line…"}
 *
 * The last line distinguishes a complete snapshot from a truncated one.
 */

import type { Hash } from 'node:crypto';
import { createHash } from 'node:crypto';
import { tryParseRecord } from '../../base/index.ts';
import type { Revision, Stored } from '../storage/index.ts';
import { maxValueBytes, StorageError } from '../storage/index.ts';
import { ByteReader } from './byte-reader.ts';

export interface SnapshotHeader {
  readonly groupSuffix: string;
  readonly revision: Revision;
}

const format = 1;
/** A key of 4,096 bytes may be written with six characters for each. */
const maxLineLength = 32 * 1024;

/** Composes a snapshot, some objects at a time. */
export class SnapshotWriter {
  readonly #hash: Hash = createHash('sha256');
  #objects = 0;

  header({ groupSuffix, revision }: SnapshotHeader): Buffer {
    return this.#counted(lineOf({ nodeward: 'snapshot', format, groupSuffix, revision }));
  }

  objects(some: readonly Stored[]): Buffer {
    this.#objects += some.length;
    const parts = some.flatMap(({ key, revision, createRevision, value }) => {
      return [lineOf({ key, revision, createRevision, bytes: value.byteLength }), value, lineEnd];
    });
    return this.#counted(Buffer.concat(parts));
  }

  trailer(): Buffer {
    return lineOf({ objects: this.#objects, sha256: this.#hash.digest('hex') });
  }

  #counted(bytes: Buffer): Buffer {
    this.#hash.update(bytes);
    return bytes;
  }
}

/** Reads a snapshot and validates all of it. Throws a StorageError `corrupt` for what is wrong. */
export class SnapshotReader {
  readonly header: SnapshotHeader;
  readonly #bytes: ByteReader;
  readonly #name: string;

  private constructor(header: SnapshotHeader, bytes: ByteReader, name: string) {
    this.header = header;
    this.#bytes = bytes;
    this.#name = name;
  }

  /** `name`: for messages. */
  static async open(chunks: AsyncIterable<Uint8Array>, name: string): Promise<SnapshotReader> {
    const bytes = new ByteReader(chunks);
    const header = tryParseRecord((await bytes.line(maxLineLength)) ?? '');
    if (header?.['nodeward'] !== 'snapshot') throw damaged(name, 'it is no snapshot of nodeward');
    if (header['format'] !== format) throw newer(name, header['format']);
    const { groupSuffix, revision } = header;
    if (typeof groupSuffix !== 'string' || !isRevision(revision))
      throw damaged(name, 'its first line is wrong');
    return new SnapshotReader({ groupSuffix, revision }, bytes, name);
  }

  /** The objects, in order; at the end everything has been compared with the checksum. To be called once. */
  async *objects(): AsyncGenerator<Stored> {
    let count = 0;
    for (;;) {
      const sha256 = this.#bytes.sha256();
      const line = tryParseRecord((await this.#bytes.line(maxLineLength)) ?? '');
      if (line === undefined)
        throw damaged(this.#name, `it ends, or is no longer readable, after ${count} objects`);
      if ('sha256' in line) {
        if (line['sha256'] !== sha256 || line['objects'] !== count)
          throw damaged(this.#name, 'its checksum is wrong');
        if (!(await this.#bytes.isAtEnd())) throw damaged(this.#name, 'something follows its last line');
        return;
      }
      yield await this.#object(line);
      count++;
    }
  }

  async #object(line: Readonly<Record<string, unknown>>): Promise<Stored> {
    const { key, revision, createRevision, bytes } = line;
    const isWhole =
      typeof key === 'string' &&
      isRevision(revision) &&
      revision <= this.header.revision &&
      isRevision(createRevision) &&
      createRevision <= revision &&
      isRevision(bytes) &&
      bytes <= maxValueBytes;
    if (!isWhole) throw damaged(this.#name, `it holds a wrong line: ${JSON.stringify(line).slice(0, 200)}`);
    const value = await this.#bytes.exactly(bytes);
    const end = await this.#bytes.exactly(1);
    if (value === undefined || end?.[0] !== lineEnd[0])
      throw damaged(this.#name, `the value of ${key} is cut off`);
    return { key, revision, createRevision, value };
  }
}

const lineEnd = Buffer.from('\n');

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function isRevision(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function damaged(name: string, what: string): StorageError {
  return new StorageError('corrupt', `the snapshot ${name} cannot be used: ${what}; use another one`);
}

function newer(name: string, found: unknown): StorageError {
  const versions = `it has format ${String(found)}, this program knows ${format}`;
  return new StorageError(
    'newerFormat',
    `the snapshot ${name} is of another version of nodeward: ${versions}`,
  );
}
