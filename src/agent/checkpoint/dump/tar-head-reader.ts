import { isTarHeader } from './tar.ts';

const blockBytes = 512;

/** Reads a tar archive that is pushed piece by piece, and keeps the beginnings of some of its files. */
interface TarHeadReader {
  /** Takes the next bytes of the archive, any number of them; keeps no reference to them. */
  push(chunk: Uint8Array): void;
  /** The beginnings read so far, by name; a file that is not in the archive is missing. */
  readonly heads: ReadonlyMap<string, Buffer>;
}

/** Keeps at most `maxBytes` of each file. Ignores everything after the first block that should be a header and is none. */
export function createTarHeadReader(names: readonly string[], maxBytes: number): TarHeadReader {
  const heads = new Map<string, Buffer>();
  const header = Buffer.alloc(blockBytes);
  let filled = 0;
  let skip = 0;
  let ended = false;
  let wantedFile: { name: string; leftBytes: number } | undefined;

  function keepPart(part: Uint8Array): void {
    if (wantedFile === undefined) return;
    const kept = part.subarray(0, wantedFile.leftBytes);
    heads.set(wantedFile.name, Buffer.concat([heads.get(wantedFile.name) ?? Buffer.alloc(0), kept]));
    wantedFile.leftBytes -= kept.length;
    if (wantedFile.leftBytes === 0) wantedFile = undefined;
  }

  function startFile(): void {
    const found = isTarHeader(header) ? parseHeader(header) : undefined;
    ended = found === undefined;
    if (found === undefined) return;
    skip = Math.ceil(found.bytes / blockBytes) * blockBytes;
    const wanted = names.includes(found.name) && found.bytes > 0;
    wantedFile = wanted ? { name: found.name, leftBytes: Math.min(maxBytes, found.bytes) } : undefined;
  }

  return {
    heads,
    push(chunk) {
      let at = 0;
      while (at < chunk.length && !ended) {
        if (skip > 0) {
          const passed = Math.min(skip, chunk.length - at);
          keepPart(chunk.subarray(at, at + passed));
          [at, skip] = [at + passed, skip - passed];
          continue;
        }
        const part = chunk.subarray(at, at + blockBytes - filled);
        header.set(part, filled);
        [at, filled] = [at + part.length, filled + part.length];
        if (filled < blockBytes) return;
        filled = 0;
        startFile();
      }
    },
  };
}

function parseHeader(header: Buffer): { name: string; bytes: number } | undefined {
  const [name = ''] = header.toString('utf8', 0, 100).split('\0', 1);
  const bytes = parseSize(header.subarray(124, 136));
  return Number.isSafeInteger(bytes) && bytes >= 0 ? { name, bytes } : undefined;
}

/** Octal digits; sizes of 8 GiB and more are binary, with the highest bit set. */
function parseSize(field: Buffer): number {
  if (((field[0] ?? 0) & 0x80) !== 0) return Number(field.readBigUInt64BE(4));
  return Number.parseInt(field.toString('latin1').replaceAll(/[\0 ]/g, '') || '0', 8);
}
