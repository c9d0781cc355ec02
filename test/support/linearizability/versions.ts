import type { Operation } from './history.ts';

/** A version that an answer told: of its own write (`isNew`), or the newest there is. */
export interface ToldVersion {
  readonly version: number;
  readonly isNew: boolean;
}

/**
 * What keys share: versions come from one counter. A write that begins after an answer has a greater version than that
 * answer told; what tells the newest version never goes back either; and no version is given twice. Answers what
 * contradicts that, as a sentence.
 */
export function versionFault<Input, Output>(
  operations: readonly Operation<Input, Output>[],
  told: (operation: Operation<Input, Output>) => ToldVersion | undefined,
): string | undefined {
  const all = operations.flatMap((operation) => {
    const found = told(operation);
    return found === undefined ? [] : [{ ...found, ...operation }];
  });
  const given = new Set<number>();
  const returned = all.toSorted((a, b) => a.returnedAt - b.returnedAt);
  let [newest, ended] = [0, 0];
  for (const { version, isNew, calledAt, client } of all.toSorted((a, b) => a.calledAt - b.calledAt)) {
    for (let next = returned[ended]; next && next.returnedAt < calledAt; next = returned[++ended]) {
      newest = Math.max(newest, next.version);
    }
    if (version < newest || (isNew && version === newest)) {
      return `client ${client} was told ${version} after ${newest} had been told`;
    }
    if (isNew && given.has(version)) return `version ${version} was given twice`;
    if (isNew) given.add(version);
  }
  return undefined;
}
