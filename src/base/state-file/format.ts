import { createHash } from 'node:crypto';

/*
 * A state file is one JSON object: the members of the value, and two of its own.
 *
 *     {"formatVersion":1, …the value…, "sha256":"9f86…"}
 *
 * The checksum is that of the object without it in canonical form (members sorted by name at every depth, no blanks), so
 * a file that an operator has formatted differently is still valid. The member is not called `checksum`: programs that
 * read the reference's files expect a number under that name.
 */

/** Members of the format itself, which no value may have. */
const reservedMembers = ['formatVersion', 'sha256'] as const;

/** The members of a value, as parsed from JSON. */
export type StateRecord = Readonly<Record<string, unknown>>;

/** Throws for a value that has one of the reserved members. */
export function encodeState(value: object, formatVersion: number): string {
  const taken = reservedMembers.find((name) => Object.hasOwn(value, name));
  if (taken !== undefined) throw new Error(`a state has no member ${taken} of its own`);
  const plain: unknown = JSON.parse(JSON.stringify({ ...value, formatVersion }));
  const text = formatCanonical(plain);
  return `${text.slice(0, -1)},"sha256":"${computeChecksum(text)}"}\n`;
}

/** Throws an Error whose message says what is wrong with the text and follows the name of the file: `has no checksum`. */
export function decodeState(text: string, formatVersion: number): StateRecord {
  const parsed = parse(text);
  if (!isPlainObject(parsed)) throw new Error('is no JSON object');
  const { sha256, ...value } = parsed;
  if (typeof sha256 !== 'string') throw new Error('has no checksum');
  if (computeChecksum(formatCanonical(value)) !== sha256)
    throw new Error('does not have the content that its checksum tells');
  const { formatVersion: version, ...members } = value;
  if (version !== formatVersion) {
    throw new Error(`has format version ${JSON.stringify(version)}, and ${formatVersion} is understood`);
  }
  return members;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(text.trim() === '' ? 'is empty' : 'is no JSON', { cause: error });
  }
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function computeChecksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function formatCanonical(value: unknown): string {
  return JSON.stringify(sortMembers(value));
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [name, sortMembers(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
