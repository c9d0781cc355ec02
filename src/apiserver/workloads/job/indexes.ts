/** First and last of indexes that follow one another. */
type Interval = readonly [first: number, last: number];

/** Completion indexes as a Job's status has them: `1,3-5`. Immutable. */
export class IndexSet {
  static readonly none = new IndexSet([]);
  readonly #intervals: readonly Interval[];
  readonly size: number;

  private constructor(intervals: readonly Interval[]) {
    this.#intervals = intervals;
    this.size = intervals.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  /** Reads `1,3-5`; what is not below `limit`, or cannot be read, is left out, as in the reference. */
  static parse(text: string | undefined, limit: number): IndexSet {
    const intervals: Interval[] = [];
    for (const part of (text ?? '').split(',')) {
      const [, from = '', to = from] = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part) ?? [];
      if (from === '') continue;
      const interval: Interval = [Number(from), Math.min(Number(to), limit - 1)];
      if (interval[0] <= interval[1]) intervals.push(interval);
    }
    return new IndexSet(merge(intervals));
  }

  static of(indexes: Iterable<number>): IndexSet {
    return new IndexSet(merge([...indexes].map((index): Interval => [index, index])));
  }

  has(index: number): boolean {
    let low = 0;
    let high = this.#intervals.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#intervals[middle]?.[1] ?? 0) < index) low = middle + 1;
      else high = middle;
    }
    return (this.#intervals[low]?.[0] ?? Number.POSITIVE_INFINITY) <= index;
  }

  union(other: IndexSet): IndexSet {
    return new IndexSet(merge([...this.#intervals, ...other.#intervals]));
  }

  /** How many are in both. */
  countCommon(other: IndexSet): number {
    return this.size + other.size - this.union(other).size;
  }

  /** The first `count` indexes below `limit` that are not in it. */
  firstMissing(count: number, limit: number): number[] {
    const missing: number[] = [];
    let next = 0;
    for (const [first, last] of [...this.#intervals, [limit, limit] as const]) {
      for (; next < Math.min(first, limit) && missing.length < count; next++) missing.push(next);
      next = Math.max(next, last + 1);
    }
    return missing;
  }

  toString(): string {
    return this.#intervals.map(formatInterval).join(',');
  }
}

/** Two that follow one another are written as two, as in the reference. */
function formatInterval([first, last]: Interval): string {
  if (first === last) return String(first);
  return last === first + 1 ? `${first},${last}` : `${first}-${last}`;
}

function merge(intervals: readonly Interval[]): readonly Interval[] {
  const merged: [number, number][] = [];
  for (const [first, last] of intervals.toSorted((one, other) => one[0] - other[0])) {
    const before = merged.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else merged.push([first, last]);
  }
  return merged;
}
