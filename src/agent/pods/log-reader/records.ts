/*
 * Records of a log as the CRI lays them down, one a line: `TIME STREAM TAGS TEXT`. A line of the container that was too long
 * for one record is several, of which all but the last are tagged P; they are given out as one line again.
 */

export type LogStream = 'All' | 'Stdout' | 'Stderr';

export interface RecordOptions {
  /** RFC 3339 with nine digits of a second, before each line. */
  readonly hasTimestamps: boolean;
  /** Records before it are left out; milliseconds of the wall clock. */
  readonly sinceMs: number | undefined;
  readonly stream: LogStream;
}

const newline = 0x0a;
const space = 0x20;
const dot = 0x2e;
const digit = { from: 0x30, to: 0x39 };
const partialTag = 0x50;
/** In `stdout` and `stderr`, both six characters long, the first one that differs, and its place. */
const streamLetter = { at: 3, stdout: 0x6f, stderr: 0x65 };
const streamLength = 6;
const fractionDigits = 9;
const dateLength = 'YYYY-MM-DD'.length;
const timeMark = 0x54;
const secondsLength = 'YYYY-MM-DDThh:mm:ss'.length;
/** What is longer without an end of line is no record of any runtime. It is given out as it is. */
const maxRecordBytes = 1024 * 1024;

/** The parts of a record in the bytes that hold it: where its time ends, its stream, and where its text begins. */
interface Head {
  readonly timeEnd: number;
  readonly stream: number;
  readonly textAt: number;
  readonly isPartial: boolean;
}

/** Turns the bytes of a log, given piece by piece, into what the container wrote. */
export class RecordReader {
  readonly #options: RecordOptions;
  /** The beginning of a record whose end has not been given yet. */
  #rest: Buffer = Buffer.alloc(0);
  #isLineStart = true;

  constructor(options: RecordOptions) {
    this.#options = options;
  }

  /** What the whole records in `bytes` say. The result is its own memory: `bytes` may be used again. */
  read(bytes: Buffer): Buffer {
    const input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    // a time grows by at most 10 characters, and what stands between it and the text, which goes, has 9 and more
    const output = Buffer.allocUnsafe(input.length * 2);
    let from = 0;
    let length = 0;
    for (let end = input.indexOf(newline); end >= 0; end = input.indexOf(newline, from)) {
      length = this.#addRecord(input, from, end, output, length);
      from = end + 1;
    }
    const rest = input.subarray(from);
    if (rest.length <= maxRecordBytes) this.#rest = Buffer.from(rest);
    else {
      length += rest.copy(output, length);
      this.#rest = Buffer.alloc(0);
    }
    return output.subarray(0, length);
  }

  /** What follows is of another file: a record does not go on there. */
  startFile(): void {
    this.#rest = Buffer.alloc(0);
  }

  #addRecord(input: Buffer, from: number, end: number, output: Buffer, at: number): number {
    const { hasTimestamps, stream } = this.#options;
    const head = readHead(input, from, end);
    if (head === undefined) return at + input.copy(output, at, from, end + 1);
    if (stream !== 'All' && head.stream !== streamLetter[stream === 'Stdout' ? 'stdout' : 'stderr'])
      return at;
    if (this.#isBefore(input, from, head)) return at;
    let length = at;
    if (hasTimestamps && this.#isLineStart) length = writeTime(input, from, head.timeEnd, output, length);
    this.#isLineStart = !head.isPartial;
    return length + input.copy(output, length, head.textAt, head.isPartial ? end : end + 1);
  }

  #isBefore(input: Buffer, from: number, { timeEnd }: Head): boolean {
    const { sinceMs } = this.#options;
    return sinceMs !== undefined && Date.parse(input.toString('latin1', from, timeEnd)) < sinceMs;
  }
}

/** Undefined for what is no record. */
function readHead(input: Buffer, from: number, end: number): Head | undefined {
  let timeEnd = from;
  while (timeEnd < end && input[timeEnd] !== space) timeEnd += 1;
  const tagsAt = timeEnd + streamLength + 2;
  const stream = input[timeEnd + 1 + streamLetter.at] ?? 0;
  const isStream = stream === streamLetter.stdout || stream === streamLetter.stderr;
  const isTime = timeEnd - from > secondsLength && input[from + dateLength] === timeMark;
  if (!isTime || !isStream || tagsAt >= end || input[tagsAt - 1] !== space) return undefined;
  let tagsEnd = tagsAt;
  while (tagsEnd < end && input[tagsEnd] !== space) tagsEnd += 1;
  const textAt = Math.min(tagsEnd + 1, end);
  return { timeEnd, stream, textAt, isPartial: input[tagsAt] === partialTag };
}

/** With nine digits of a second, whatever there are, and a space behind it. */
function writeTime(input: Buffer, from: number, end: number, output: Buffer, at: number): number {
  let zoneAt = from + secondsLength;
  let length = at + input.copy(output, at, from, zoneAt);
  output[length++] = dot;
  let digits = 0;
  if (input[zoneAt] === dot) zoneAt += 1;
  for (; zoneAt < end && isDigit(input[zoneAt]); zoneAt += 1)
    if (digits++ < fractionDigits) output[length++] = input[zoneAt] ?? digit.from;
  for (; digits < fractionDigits; digits += 1) output[length++] = digit.from;
  length += input.copy(output, length, zoneAt, end);
  output[length++] = space;
  return length;
}

const isDigit = (byte = 0) => byte >= digit.from && byte <= digit.to;
