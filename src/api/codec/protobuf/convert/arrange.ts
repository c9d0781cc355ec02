import { WireType } from '@bufbuild/protobuf/wire';
import { unusual } from '../../../json/index.ts';
import { toTag } from '../wire.ts';
import type { Conversion } from './conversion.ts';
import { moveBytes, writeVarint } from './conversion.ts';
import { withinOf } from './parts.ts';

/** By what parts are put into order. */
export interface Ordering {
  /** Compares the orders of two parts. */
  compare(conversion: Conversion, one: number, other: number): number;
  /** From its order, the number of the message around a part that JSON does not have; 0: none. */
  withinOf(order: number): number;
}

/** The order of fields, made by `orderOf`. */
export const byNumber: Ordering = { compare: (_conversion, one, other) => one - other, withinOf };

/**
 * Puts the parts from an index on, which are all that was written last, into order, with the messages around them. Those
 * before the first and behind the last that is out of place stay where they are.
 */
export function arrange(conversion: Conversion, first: number, ordering: Ordering): void {
  const { bytes, end, parts } = conversion;
  if (parts.isFull) throw unusual(conversion);
  if (end > bytes.length) return;
  const sorted = sortParts(conversion, first, ordering);
  let [low, high] = [0, sorted.length];
  while (low < high && isInPlace(conversion, ordering, sorted[low], first + low)) low++;
  while (low < high && isInPlace(conversion, ordering, sorted[high - 1], first + high - 1)) high--;
  if (low === high) return;
  const start = parts.start(first + low);
  const behind = parts.startOr(first + high, end);
  const written = parts.spare(end - start);
  moveBytes(bytes, start, end, written, 0);
  conversion.end = start;
  for (let place = low, open = 0; place < high; place++) {
    const index = sorted[place] ?? 0;
    const within = ordering.withinOf(parts.order(index));
    if (within !== open && within !== 0) openWithin(conversion, within, sorted.slice(place, high), end);
    open = within;
    const [from, to] = [parts.start(index), parts.startOr(index + 1, end)];
    moveBytes(written, from - start, to - start, bytes, conversion.end);
    conversion.end += to - from;
  }
  const moved = conversion.end !== behind;
  if (moved) moveBytes(written, behind - start, end - start, bytes, conversion.end);
  conversion.end += end - behind;
}

/** What has a message around it that JSON does not have is never in place: that message is not written yet. */
function isInPlace(
  { parts }: Conversion,
  ordering: Ordering,
  index: number | undefined,
  place: number,
): boolean {
  return index === place && ordering.withinOf(parts.order(place)) === 0;
}

/** The indexes of the parts, in order. There are few, and most are in order. */
function sortParts(conversion: Conversion, first: number, ordering: Ordering): number[] {
  const { parts } = conversion;
  const sorted: number[] = [];
  for (let index = first; index < parts.count; index++) {
    let place = sorted.length;
    for (; place > 0; place--) {
      const difference = ordering.compare(
        conversion,
        parts.order(sorted[place - 1] ?? 0),
        parts.order(index),
      );
      if (difference === 0) throw unusual(conversion); // a key that is there twice
      if (difference < 0) break;
      sorted[place] = sorted[place - 1] ?? 0;
    }
    sorted[place] = index;
  }
  return sorted;
}

/** Begins the message around the first of these parts. */
function openWithin(conversion: Conversion, within: number, from: readonly number[], end: number): void {
  const { parts } = conversion;
  let length = 0;
  for (const index of from) {
    if (withinOf(parts.order(index)) !== within) break;
    length += parts.startOr(index + 1, end) - parts.start(index);
  }
  writeVarint(conversion, toTag(within, WireType.LengthDelimited));
  writeVarint(conversion, length);
}
