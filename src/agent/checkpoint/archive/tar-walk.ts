import type { Parser, ReadEntry } from 'tar';
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

/** Returns a reader of a tar archive; the package that parses it is loaded only here. */
export async function walkTar(options: WalkOptions): Promise<TarWalk> {
  const tar = await import('tar');
  return new TarWalk(tar.Parser, options);
}

/** Reads a tar archive in chunks, with constant memory. A compressed archive is refused, not decompressed. */
class TarWalk {
  readonly #options: WalkOptions;
  readonly #parser: Parser;
  #entries = 0;
  #broken = 0;
  #state: 'open' | 'ended' | 'stopped' | 'cut' = 'open';
  /** What came before the first block was complete; undefined once that has been checked. */
  #head: Buffer | undefined = Buffer.alloc(0);

  constructor(TarParser: typeof Parser, options: WalkOptions) {
    this.#options = options;
    this.#parser = new TarParser({
      strict: false,
      brotli: false,
      zstd: false,
      maxMetaEntrySize: limits.extraHeaderBytes,
      onReadEntry: (entry) => this.#enter(entry),
    });
    this.#parser.on('warn', (code: string, message: string) => this.#takeWarning(code, message));
    this.#parser.on('eof', () => {
      if (this.#state === 'open') this.#state = 'ended';
    });
  }

  /** False after the end mark, and after a limit was exceeded: nothing more is read then. */
  get open(): boolean {
    return this.#state === 'open';
  }

  /** Takes the next bytes of the archive. Throws an ArchiveError when it does not start as a tar archive. */
  push(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#head === undefined) return void this.#write(bytes);
    this.#head = Buffer.concat([this.#head, bytes]);
    if (this.#head.length < blockBytes) return;
    const whole = this.#head;
    this.#head = undefined;
    requireTar(whole.subarray(0, blockBytes), this.#options.what);
    this.#write(whole);
  }

  /** `whole`: the archive was complete up to its end mark. */
  end(): { whole: boolean } {
    const { what, notes } = this.#options;
    if (this.#head !== undefined) throw new ArchiveError(`${what} is too short to be an archive`);
    if (this.#state === 'open') {
      this.#parser.end();
      if (this.#state === 'open') this.#state = 'cut';
    }
    if (this.#state === 'cut') notes.add(`${what}: it ends in the middle`);
    return { whole: this.#state === 'ended' };
  }

  #write(bytes: Buffer): void {
    try {
      for (let at = 0; at < bytes.length && this.#state === 'open'; at += pieceBytes) {
        this.#parser.write(bytes.subarray(at, at + pieceBytes));
      }
    } catch (error) {
      this.#stop(describeError(error));
    }
  }

  #enter(entry: ReadEntry): void {
    const sink = this.#state === 'open' ? this.#createSink(entry) : undefined;
    if (sink === undefined) return void entry.resume();
    entry.on('data', (chunk: Uint8Array) => sink.push(chunk));
    entry.on('end', () => {
      if (entry.remain === 0) sink.end();
    });
  }

  #createSink(entry: ReadEntry): EntrySink | undefined {
    const { what, maxEntries, notes, visit } = this.#options;
    if (++this.#entries > maxEntries) return void this.#stop(`it has more than ${maxEntries} files`);
    const { size, path } = entry;
    // an invalid size is undefined in the header, and zero in the entry
    if (entry.header.size === undefined || !Number.isSafeInteger(size) || size < 0)
      return void this.#stop('a file has a size that is none');
    if (path.length > limits.nameLength)
      return void notes.add(`${what}: a file with a name that is too long`);
    // a copy: a slice would keep the whole original text in memory
    const name = Buffer.from(path.replace(/^(\.\/)+/, '')).toString('utf8');
    return visit({ name, bytes: size, type: resolveType(entry.type) });
  }

  #takeWarning(code: string, message: string): void {
    const { what, notes } = this.#options;
    if (code === 'TAR_ENTRY_INVALID' && ++this.#broken > limits.brokenHeaders)
      return void this.#stop('too much of it is broken');
    if (code === 'TAR_BAD_ARCHIVE') this.#state = this.#state === 'open' ? 'cut' : this.#state;
    if (this.#state !== 'ended') notes.add(`${what}: ${message}`);
  }

  #stop(why: string): void {
    const { what, notes } = this.#options;
    if (this.#state === 'open') notes.add(`${what}: ${why}; the rest was not read`);
    this.#state = 'stopped';
  }
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
