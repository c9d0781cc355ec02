import { isRecord, typeNameOf } from '../../schema/index.ts';
import type { MergedList } from './arrange.ts';
import { arrange, indexPositions } from './arrange.ts';
import type { Place } from './place.ts';
import { failed, malformed } from './place.ts';

/** Merges the values of both lists, each once. */
export function mergeScalars(live: readonly unknown[], patch: readonly unknown[]): MergedList {
  const values = [...new Set([...live, ...patch])];
  return {
    items: arrange(values, (value) => value, indexPositions(patch), indexPositions(live)),
    liveOrder: live,
  };
}

/** Removes values from a list of scalars, even from one that a patch would otherwise replace. */
export function removeScalars(
  live: readonly unknown[],
  values: readonly unknown[],
  place: Place,
): readonly unknown[] {
  values.forEach((value, index) => {
    if (isScalar(value)) return;
    throw malformed(
      { parent: place, step: index },
      `expected a string, a number or a boolean, found ${typeNameOf(value)}`,
    );
  });
  if (values.length > 0 && live.some((item) => isRecord(item) || Array.isArray(item)))
    throw failed(place, 'the list holds no scalars: items of it are deleted with $patch: delete');
  const removed = new Set(values);
  return live.filter((item) => !removed.has(item));
}

export function isScalar(value: unknown): boolean {
  return value !== null && typeof value !== 'object';
}
