const maxNameLength = 40;

/** Returns the name most similar to `name`; undefined when none is similar enough to be a likely typo. */
export function findNearestName(name: string, names: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  let best: string | undefined;
  let limit = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const each of names) {
    if (Math.abs(each.length - name.length) >= limit) continue;
    const distance = computeEditDistance(name, each);
    if (distance < limit) [best, limit] = [each, distance];
  }
  return best;
}

/** How many characters must be inserted, removed, replaced or swapped with their neighbour (optimal string alignment). */
export function computeEditDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = readCell(above, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isExchange = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const exchanged = isExchange ? readCell(before, j - 2) + 1 : Infinity;
      row.push(Math.min(readCell(above, j) + 1, readCell(row, j - 1) + 1, replaced, exchanged));
    }
    [before, above] = [above, row];
  }
  return readCell(above, b.length);
}

const readCell = (row: readonly number[], index: number): number => row[index] ?? Infinity;
