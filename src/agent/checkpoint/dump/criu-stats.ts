/** The parts of criu's own files about a dump that go into a checkpoint's record. These are the names of the files. */
export const dumpLog = 'dump.log';
export const statsDump = 'stats-dump';

/** `4.2.1` from the line `Version: 4.2.1 (gitid 0)`; empty where the log has no such line. */
export function parseCriuVersion(log: Buffer | undefined): string {
  return /\bVersion: ([\w.+~-]{1,50})/.exec(log?.toString('latin1') ?? '')?.[1] ?? '';
}

const frameBytes = 12;

/**
 * How long criu kept the processes frozen, in milliseconds. The file has two magic numbers and a length, each of four
 * bytes, then a protobuf message, whose field 1 is the statistics of the dump; field 2 in there is the time in microseconds.
 */
export function parseFrozenMs(stats: Buffer | undefined): number | undefined {
  if (stats === undefined || stats.length < frameBytes) return undefined;
  const dump = readField(stats.subarray(frameBytes, frameBytes + stats.readUInt32LE(8)), 1);
  const microseconds = Buffer.isBuffer(dump) ? readField(dump, 2) : undefined;
  return typeof microseconds === 'number' ? microseconds / 1000 : undefined;
}

/** A number, or the bytes of a nested message; undefined where the field is missing or the message is malformed. */
function readField(message: Buffer, wanted: number): number | Buffer | undefined {
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
    const value = varint(); // the value of a number, or the length of a nested message
    if (Number.isNaN(value) || (tag & 7) === 1 || (tag & 7) === 5) return undefined;
    const nested = (tag & 7) === 2 ? message.subarray(at, at + value) : undefined;
    if (tag >>> 3 === wanted) return nested ?? value;
    at += nested?.length ?? 0;
  }
  return undefined;
}
