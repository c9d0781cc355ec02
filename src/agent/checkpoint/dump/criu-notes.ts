/** What criu has written down about a dump, as far as it ends in a checkpoint's record. */
export const dumpLog = 'dump.log';
export const statsDump = 'stats-dump';

/** `4.2.1` of the line `Version: 4.2.1 (gitid 0)`; empty where the log does not say it. */
export function criuVersion(log: Buffer | undefined): string {
  return /\bVersion: ([\w.+~-]{1,50})/.exec(log?.toString('latin1') ?? '')?.[1] ?? '';
}

const frameBytes = 12;

/**
 * How long criu kept the processes frozen, in milliseconds. The file is two magic numbers and a length, each of four
 * bytes, and a protobuf message: field 1 is the statistics of the dump, in it field 2 the microseconds.
 */
export function frozenMs(stats: Buffer | undefined): number | undefined {
  if (stats === undefined || stats.length < frameBytes) return undefined;
  const dump = fieldOf(stats.subarray(frameBytes, frameBytes + stats.readUInt32LE(8)), 1);
  const microseconds = Buffer.isBuffer(dump) ? fieldOf(dump, 2) : undefined;
  return typeof microseconds === 'number' ? microseconds / 1000 : undefined;
}

/** A number, or the bytes of a nested message; undefined where the message has no such field or makes no sense. */
function fieldOf(message: Buffer, wanted: number): number | Buffer | undefined {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let shift = 0; shift < 53; shift += 7) {
      const byte = message[at++];
      if (byte === undefined) return Number.NaN;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    return Number.NaN;
  };
  while (at < message.length) {
    const tag = varint();
    const value = varint(); // numbers are varints; of what is nested it is the length
    if (Number.isNaN(value) || (tag & 7) === 1 || (tag & 7) === 5) return undefined;
    const nested = (tag & 7) === 2 ? message.subarray(at, at + value) : undefined;
    if (tag >>> 3 === wanted) return nested ?? value;
    at += nested?.length ?? 0;
  }
  return undefined;
}
