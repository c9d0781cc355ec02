/**
 * A test file may ask not to run beside others, in one of its first five lines:
 *
 *   // lane: exclusive (it fills the disk that all use)
 *
 * Every other file is in the lane `shared`.
 */
import { readFile } from 'node:fs/promises';

export type Lane = 'shared' | 'exclusive';

const linesLookedAt = 5;

/** Throws an error that names what is wrong with the line. */
export async function readLane(file: string): Promise<Lane> {
  const lines = (await readFile(file, 'utf8')).split('\n', linesLookedAt);
  const said = lines.filter((line) => /^\s*\/\/\s*lane\b/i.test(line));
  if (said.length > 1) throw new Error('it names its lane twice');
  return said[0] === undefined ? 'shared' : parseLane(said[0]);
}

function parseLane(line: string): Lane {
  const [, name, reason = ''] = /^\/\/ lane: (\S+)(?: \((.*)\))?\s*$/.exec(line) ?? [];
  if (name === undefined) throw new Error(`not of the form "// lane: exclusive (reason)": ${line}`);
  if (name !== 'exclusive') throw new Error(`there is no lane ${name}; only exclusive can be named`);
  if (reason.trim() === '') throw new Error(`the reason in parentheses is missing: ${line}`);
  return name;
}
