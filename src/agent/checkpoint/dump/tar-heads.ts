import { isTarHeader } from './tar.ts';

const blockBytes = 512;

/** Reads a tar archive that passes by, and keeps the beginnings of some of its files. */
export interface TarHeads {
  /** The next bytes of the archive, in pieces of any size; it keeps no reference to them. */
  push(chunk: Uint8Array): void;
  /** What came so far, by name; a file that is not in the archive is missing. */
  readonly heads: ReadonlyMap<string, Buffer>;
}

/** At most `limitBytes` of each. Stops to look at the first thing that is no header. */
export function readTarHeads(names: readonly string[], limitBytes: number): TarHeads {
  const heads = new Map<string, Buffer>();
  const header = Buffer.alloc(blockBytes);
  let filled = 0;
  let skip = 0;
  let ended = false;
  let taking: { name: string; leftBytes: number } | undefined;

  function take(part: Uint8Array): void {
    if (taking === undefined) return;
    const kept = part.subarray(0, taking.leftBytes);
    heads.set(taking.name, Buffer.concat([heads.get(taking.name) ?? Buffer.alloc(0), kept]));
    taking.leftBytes -= kept.length;
    if (taking.leftBytes === 0) taking = undefined;
  }

  function enter(): void {
    const found = isTarHeader(header) ? fileIn(header) : undefined;
    ended = found === undefined;
    if (found === undefined) return;
    skip = Math.ceil(found.bytes / blockBytes) * blockBytes;
    const wanted = names.includes(found.name) && found.bytes > 0;
    taking = wanted ? { name: found.name, leftBytes: Math.min(limitBytes, found.bytes) } : undefined;
  }

  return {
    heads,
    push(chunk) {
      let at = 0;
      while (at < chunk.length && !ended) {
        if (skip > 0) {
          const passed = Math.min(skip, chunk.length - at);
          take(chunk.subarray(at, at + passed));
          [at, skip] = [at + passed, skip - passed];
          continue;
        }
        const part = chunk.subarray(at, at + blockBytes - filled);
        header.set(part, filled);
        [at, filled] = [at + part.length, filled + part.length];
        if (filled < blockBytes) return;
        filled = 0;
        enter();
      }
    },
  };
}

function fileIn(header: Buffer): { name: string; bytes: number } | undefined {
  const [name = ''] = header.toString('utf8', 0, 100).split('\0', 1);
  const bytes = sizeIn(header.subarray(124, 136));
  return Number.isSafeInteger(bytes) && bytes >= 0 ? { name, bytes } : undefined;
}

/** Octal digits; from 8 GiB on binary, with the highest bit set. */
function sizeIn(field: Buffer): number {
  if (((field[0] ?? 0) & 0x80) !== 0) return Number(field.readBigUInt64BE(4));
  return Number.parseInt(field.toString('latin1').replaceAll(/[\0 ]/g, '') || '0', 8);
}
