import { Buffer } from 'node:buffer';
import type { Chance } from './chance.ts';

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1e308,
  1e21,
  2 ** 60,
  '',
  '\u0000',
  '\ud800',
  'x'.repeat(5000),
  [],
  {},
  [[]],
  { a: { b: { c: [] } } },
  '__proto__',
  'constructor',
  '../../etc/passwd',
  '%s%n',
  '1'.repeat(400),
];

/** An object with some place in it changed: taken away, renamed, or of another type. */
export function mutateObject(value: unknown, chance: Chance): unknown {
  if (typeof value !== 'object' || value === null || chance.oneIn(8)) return chance.pick(oddValues);
  const copy: Record<string, unknown> = { ...value };
  const keys = Object.keys(copy);
  const key = keys.length === 0 ? 'extra' : chance.pick(keys);
  switch (chance.below(5)) {
    case 0:
      Reflect.deleteProperty(copy, key);
      break;
    case 1:
      copy[chance.pick(['unknown', '__proto__', 'toString', 'é', ''])] = copy[key];
      break;
    default:
      copy[key] = mutateObject(copy[key], chance);
  }
  return Array.isArray(value) ? Object.values(copy) : copy;
}

/** Bytes with some of them changed, cut off, doubled or put in. */
export function mutateBytes(bytes: Buffer, chance: Chance): Buffer {
  if (bytes.length === 0) return Buffer.from([chance.below(256)]);
  const copy = Buffer.from(bytes);
  const at = chance.below(copy.length);
  switch (chance.below(5)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      return Buffer.concat([copy, copy.subarray(at)]);
    case 2:
      return Buffer.concat([copy.subarray(0, at), Buffer.from(chance.pick(tokens)), copy.subarray(at)]);
    default:
      for (let times = chance.below(4); times >= 0; times--)
        copy[chance.below(copy.length)] = chance.below(256);
      return copy;
  }
}

const tokens = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\\',
  '&a *a ',
  '<<: ',
  '---\n',
  '\t',
  '\u0000',
  '\xff',
  '- ',
];
