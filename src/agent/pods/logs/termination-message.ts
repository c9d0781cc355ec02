import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../../base/index.ts';
import { namesIn } from './paths.ts';
import { listRotated } from './rotated.ts';

/** What is read of the file that a container left. */
export const maxMessageBytes = 4096;
/** Of the end of its log, where that stands in for the file. */
const maxLogLines = 80;
const maxLogBytes = 2048;
/** For all containers of a pod together. */
const maxPodBytes = 12 * 1024;
/** Read of the log: more than 80 records of no length, and more than the longest record (16 KiB) twice. */
const tailBytes = 40 * 1024;

export interface TerminationMessageSource {
  /** Behind terminationMessagePath; undefined: the container has none. */
  readonly file: string | undefined;
  readonly policy: string;
  readonly logPath: string;
  readonly exitCode: number;
  /** The runtime's own. */
  readonly message?: string;
}

/**
 * What a container says of its end: the end of its file, or of its log when the policy is FallbackToLogsOnError, it failed and
 * the file is empty; behind the runtime's own message. The files are of the workload's making: no link is followed, and nothing
 * but a regular file is read. Never rejects; what cannot be read is said.
 */
export async function readTerminationMessage(source: TerminationMessageSource): Promise<string> {
  const { file, policy, logPath, exitCode, message = '' } = source;
  const stated = file === undefined ? '' : await describeEnd(file, readFileMessage);
  const isFallback = stated === '' && policy === 'FallbackToLogsOnError' && exitCode !== 0;
  const own = isFallback && logPath !== '' ? await describeEnd(logPath, readLogMessage) : stated;
  return [message, own].filter((part) => part !== '').join(': ');
}

/** How long the message of each container of a pod may be. */
export function messageBytesOf(containerCount: number): number {
  return Math.floor(maxPodBytes / Math.max(1, containerCount));
}

/** The first `maxBytes` of a text, without half a character at the end. */
export function cutToBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= maxBytes ? text : decode(bytes.subarray(0, maxBytes));
}

async function describeEnd(path: string, read: (path: string) => Promise<string>): Promise<string> {
  try {
    return await read(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return '';
    return `Error on reading termination log ${path}: ${errorCode(error) ?? 'it is not a regular file'}`;
  }
}

const readFileMessage = async (path: string) => decode(await readEnd(path, maxMessageBytes));

async function readLogMessage(path: string): Promise<string> {
  const raw = await readLogEnd(path);
  const lines = raw.toString('latin1').split('\n');
  if (raw.length === tailBytes) lines.shift(); // it may have lost its beginning
  const texts = lines.flatMap((line) => textOfRecord(line) ?? []).slice(-maxLogLines);
  return decode(Buffer.from(texts.join(''), 'latin1').subarray(-maxLogBytes));
}

/** Also of what was rotated last, when the log that is written now has not got enough yet. */
async function readLogEnd(path: string): Promise<Buffer> {
  const current = await readEnd(path, tailBytes).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
    throw error;
  });
  const missingBytes = tailBytes - current.length;
  const rotated = listRotated(await namesIn(dirname(path)), basename(path)).at(-1);
  // the newest stays uncompressed
  if (missingBytes === 0 || rotated === undefined || rotated.isCompressed) return current;
  const before = await readEnd(join(dirname(path), rotated.name), missingBytes).catch(() => Buffer.alloc(0));
  return Buffer.concat([before, current]);
}

/** Of a line `TIME STREAM TAGS TEXT`. A piece of a longer line, tagged P, has no end of line. */
function textOfRecord(line: string): string | undefined {
  const [whole = '', tag] = /^\S+ (?:stdout|stderr) ([A-Z]+)\S* /.exec(line) ?? [];
  if (whole === '') return undefined;
  return line.slice(whole.length) + (tag === 'P' ? '' : '\n');
}

async function readEnd(path: string, maxBytes: number): Promise<Buffer> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
  await using file = await open(path, flags);
  const facts = await file.stat();
  if (!facts.isFile()) throw new Error(`${path} is not a regular file`);
  const length = Math.min(facts.size, maxBytes);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, facts.size - length);
  return buffer.subarray(0, bytesRead);
}

/** A character that was cut in half, at either end, is left out; what is no UTF-8 becomes U+FFFD. */
function decode(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start += 1;
  let end = bytes.length;
  let first = end - 1;
  while (first > end - 4 && first > start && isContinuation(bytes[first])) first -= 1;
  if (end - first < lengthOf(bytes[first])) end = first;
  return bytes.subarray(start, Math.max(start, end)).toString('utf8');
}

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80;

const lengthOf = (byte = 0) => (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1);
