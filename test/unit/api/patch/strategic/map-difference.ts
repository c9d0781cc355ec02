import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../../../src/api/schema/index.ts';

type Members = Readonly<Record<string, unknown>>;

/** The patch that leads from one object to another, where neither holds nulls and lists are replaced. */
export function mapDifference(from: Members, to: Members): Members {
  const gone = Object.keys(from).filter((name) => !Object.hasOwn(to, name));
  const changed = Object.entries(to).flatMap(([name, value]): [string, unknown][] => {
    const before = Object.hasOwn(from, name) ? from[name] : undefined;
    if (isDeepStrictEqual(before, value)) return [];
    return [[name, isRecord(before) && isRecord(value) ? mapDifference(before, value) : value]];
  });
  return Object.fromEntries([...gone.map((name) => [name, null] as const), ...changed]);
}
