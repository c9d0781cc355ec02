import type { ReadEntry } from 'tar';
import { describeError } from '../../../base/index.ts';
import { isTarHeader } from '../index.ts';
import { limits } from './limits.ts';
import type { Notes } from './notes.ts';

/** An entry of an archive. */
export interface TarEntry {
  /** Without `./` in front. */
  readonly name: string;
  /** The size in the header; never negative. */
  readonly bytes: number;
  /** `other`: for example a link. */
  readonly type: 'file' | 'folder' | 'other';
}

/** Consumes the bytes of an entry. */
export interface EntrySink {
  /** The bytes are valid only during the call. */
  push(chunk: Uint8Array): void;
  /** Called after the last byte; not for an entry that was cut off. */
  end(): void;
}

interface TarWalk {
  /** Takes the next bytes of the archive. Throws an ArchiveError when it does not start as a tar archive. */
  push(chunk: Uint8Array): void;
  /** False after the end mark, and after a limit was exceeded: nothing more is read then. */
  readonly open: boolean;
  /** `whole`: the archive was complete up to its end mark. */
  end(): { whole: boolean };
}

interface WalkOptions {
  readonly what: string;
  readonly maxEntries: number;
  readonly notes: Notes;
  /** Returns the sink for the entry's bytes; undefined: they are skipped. */
  visit(entry: TarEntry): EntrySink | undefined;
}

/** An archive that cannot be read at all. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError';
}

const blockBytes = 512;
const pieceBytes = 64 * 1024;

/** Reads a tar archive in chunks, with constant memory. A compressed archive is refused, not decompressed. */
export async function walkTar({ what, maxEntries, notes, visit }: WalkOptions): Promise<TarWalk> {
  const { Parser } = await import('tar');
  let entries = 0;
  let broken = 0;
  let state: 'open' | 'ended' | 'stopped' | 'cut' = 'open';
  let head: Buffer | undefined = Buffer.alloc(0);

  const stop = (why: string): void => {
    if (state === 'open') notes.add(`${what}: ${why}; the rest was not read`);
    state = 'stopped';
  };
  const enter = (entry: ReadEntry): void => {
    const sink = state === 'open' ? createSink(entry) : undefined;
    if (sink === undefined) return void entry.resume();
    entry.on('data', (chunk: Uint8Array) => sink.push(chunk));
    entry.on('end', () => {
      if (entry.remain === 0) sink.end();
    });
  };
  const createSink = (entry: ReadEntry): EntrySink | undefined => {
    if (++entries > maxEntries) return void stop(`it has more than ${maxEntries} files`);
    const { size, path } = entry;
    // an invalid size is undefined in the header, and zero in the entry
    if (entry.header.size === undefined || !Number.isSafeInteger(size) || size < 0)
      return void stop('a file has a size that is none');
    if (path.length > limits.nameLength)
      return void notes.add(`${what}: a file with a name that is too long`);
    // a copy: a slice would keep the whole original text in memory
    const name = Buffer.from(path.replace(/^(\.\/)+/, '')).toString('utf8');
    return visit({ name, bytes: size, type: resolveType(entry.type) });
  };
  const parser = new Parser({
    strict: false,
    brotli: false,
    zstd: false,
    maxMetaEntrySize: limits.extraHeaderBytes,
    onReadEntry: enter,
  });
  parser.on('warn', (code: string, message: string) => {
    if (code === 'TAR_ENTRY_INVALID' && ++broken > limits.brokenHeaders)
      return stop('too much of it is broken');
    if (code === 'TAR_BAD_ARCHIVE') state = state === 'open' ? 'cut' : state;
    if (state !== 'ended') notes.add(`${what}: ${message}`);
  });
  parser.on('eof', () => {
    if (state === 'open') state = 'ended';
  });

  const write = (bytes: Buffer): void => {
    try {
      for (let at = 0; at < bytes.length && state === 'open'; at += pieceBytes) {
        parser.write(bytes.subarray(at, at + pieceBytes));
      }
    } catch (error) {
      stop(describeError(error));
    }
  };
  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      if (head === undefined) return write(bytes);
      head = Buffer.concat([head, bytes]);
      if (head.length < blockBytes) return;
      const whole = head;
      head = undefined;
      requireTar(whole.subarray(0, blockBytes), what);
      write(whole);
    },
    get open() {
      return state === 'open';
    },
    end() {
      if (head !== undefined) throw new ArchiveError(`${what} is too short to be an archive`);
      if (state === 'open') {
        parser.end();
        if (state === 'open') state = 'cut';
      }
      if (state === 'cut') notes.add(`${what}: it ends in the middle`);
      return { whole: state === 'ended' };
    },
  };
}

function resolveType(type: string): TarEntry['type'] {
  if (type === 'File' || type === 'OldFile' || type === 'ContiguousFile') return 'file';
  return type === 'Directory' || type === 'GNUDumpDir' ? 'folder' : 'other';
}

/** Throws unless the block is a header, or the end mark of an empty archive. */
function requireTar(block: Buffer, what: string): void {
  if (block.every((byte) => byte === 0)) return;
  if (block.toString('latin1').startsWith('age-encryption.org/')) {
    throw new ArchiveError(`${what} is encrypted; decrypt it first, with: nodeward checkpoint open`);
  }
  const packed = (block[0] === 0x1f && block[1] === 0x8b) || (block[0] === 0x28 && block[1] === 0xb5);
  if (packed) throw new ArchiveError(`${what} is compressed; decompress it first`);
  if (!isTarHeader(block)) throw new ArchiveError(`${what} is no tar archive`);
}
