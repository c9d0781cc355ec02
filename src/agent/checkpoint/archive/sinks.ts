import type { EntrySink } from './tar-walk.ts';

/** Keeps the beginning of a file, at most `limitBytes`. */
export interface KeptBytes extends EntrySink {
  readonly bytes: Buffer;
  /** Whether there was more than is kept. */
  readonly cut: boolean;
}

export function keepBytes(limitBytes: number, whenDone: (kept: KeptBytes) => void): KeptBytes {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = false;
  const sink: KeptBytes = {
    push(chunk) {
      const part = chunk.subarray(0, limitBytes - kept);
      cut ||= part.length < chunk.length;
      if (part.length === 0) return;
      chunks.push(Buffer.from(part));
      kept += part.length;
    },
    end: () => whenDone(sink),
    get bytes() {
      return Buffer.concat(chunks);
    },
    get cut() {
      return cut;
    },
  };
  return sink;
}
