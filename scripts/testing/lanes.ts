/**
 * A test file may ask in one of its first five lines not to run beside others, or say that it mostly waits and takes nobody's
 * place:
 *
 *   // lane: exclusive (it fills the disk that all use)
 *   // lane: waiting (a node is given up after half a minute)
 *
 * Every other file is in the lane `shared`.
 */
import { readFile } from 'node:fs/promises';

const named = ['exclusive', 'waiting'] as const;

export type Lane = 'shared' | (typeof named)[number];

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
  const lane = named.find((each) => each === name);
  if (lane === undefined) throw new Error(`there is no lane ${name}; those are: ${named.join(', ')}`);
  if (reason.trim() === '') throw new Error(`the reason in parentheses is missing: ${line}`);
  return lane;
}
