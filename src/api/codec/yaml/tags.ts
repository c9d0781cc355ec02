import type { Scalar } from './scalars.ts';
import { parsePlainScalar, readInteger } from './scalars.ts';

const standardPrefix = 'tag:yaml.org,2002:';
const accepted = ['str', 'bool', 'int', 'float', 'null', 'map', 'seq'];

/** `int` for `!!int`, `str` for the bare tag `!`; undefined for a tag that is not accepted. */
export function parseTag(raw: string): string | undefined {
  if (raw === '!') return 'str';
  const full = raw.startsWith('!!') ? standardPrefix + raw.slice(2) : raw.replace(/^!<(.*)>$/, '$1');
  const name = full.startsWith(standardPrefix) ? full.slice(standardPrefix.length) : '';
  return accepted.includes(name) ? name : undefined;
}

/** The value of a scalar with a tag, quoted or not; undefined when the text does not fit the tag. */
export function parseTaggedScalar(tag: string, text: string): Scalar | undefined {
  if (tag === 'str') return text;
  const value = parsePlainScalar(text);
  switch (tag) {
    case 'null':
      return value === null ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return readInteger(text) === undefined ? undefined : value;
    case 'float':
      return typeof value === 'number' ? value : undefined;
    default:
      return undefined;
  }
}
