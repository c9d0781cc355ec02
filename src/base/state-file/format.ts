import { createHash } from 'node:crypto';

/*
 * A state file is one JSON object: the members of the value, and two of its own.
 *
 *     {"formatVersion":1, …the value…, "sha256":"9f86…"}
 *
 * The sum is taken over the object without it in canonical form (members sorted by name at every depth, no blanks), so
 * a file that an operator has laid out differently is still whole. It is not called `checksum`: readers of the
 * reference's files expect a number under that name, however it is written.
 */

/** Members that no value may have. */
const ownMembers = ['formatVersion', 'sha256'] as const;

/** Of the members of a value, as they come out of JSON. */
export type StateRecord = Readonly<Record<string, unknown>>;

/** Throws for a value that has a member of the format's own. */
export function encodeState(value: object, formatVersion: number): string {
  const taken = ownMembers.find((name) => Object.hasOwn(value, name));
  if (taken !== undefined) throw new Error(`a state has no member ${taken} of its own`);
  const plain: unknown = JSON.parse(JSON.stringify({ ...value, formatVersion }));
  const text = canonical(plain);
  return `${text.slice(0, -1)},"sha256":"${sumOf(text)}"}\n`;
}

/** Throws an Error that says what is wrong with the text, to be read behind "it". */
export function decodeState(text: string, formatVersion: number): StateRecord {
  const parsed = parse(text);
  if (!isPlainObject(parsed)) throw new Error('is no JSON object');
  const { sha256, ...value } = parsed;
  if (typeof sha256 !== 'string') throw new Error('has no checksum');
  if (sumOf(canonical(value)) !== sha256)
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

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function canonical(value: unknown): string {
  return JSON.stringify(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isPlainObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => [name, sorted(inner)]);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
