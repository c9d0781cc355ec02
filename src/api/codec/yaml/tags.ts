import type { Scalar } from './scalars.ts';
import { plainScalar, readInteger } from './scalars.ts';

const standardPrefix = 'tag:yaml.org,2002:';
const accepted = ['str', 'bool', 'int', 'float', 'null', 'map', 'seq'];

/** `int` of `!!int`, `str` of the tag `!` that says nothing else; undefined for a tag that is not accepted. */
export function standardTag(raw: string): string | undefined {
  if (raw === '!') return 'str';
  const full = raw.startsWith('!!') ? standardPrefix + raw.slice(2) : raw.replace(/^!<(.*)>$/, '$1');
  const name = full.startsWith(standardPrefix) ? full.slice(standardPrefix.length) : '';
  return accepted.includes(name) ? name : undefined;
}

/** The value of a scalar with a tag, quoted or not; undefined when it is not what the tag says. */
export function taggedScalar(tag: string, text: string): Scalar | undefined {
  if (tag === 'str') return text;
  const value = plainScalar(text);
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
