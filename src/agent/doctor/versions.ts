/** The leading numbers of a version: `6.1.0-18-amd64` is [6, 1, 0]; empty where it begins with none. */
export function numbersOf(version: string): readonly number[] {
  return (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '').split('.').filter(Boolean).map(Number);
}

/** Whether a version is `least` or later; undefined where it is none. */
export function atLeast(version: string, least: string): boolean | undefined {
  const [have, want] = [numbersOf(version), numbersOf(least)];
  if (have.length === 0) return undefined;
  for (const [index, number] of want.entries()) {
    const difference = (have[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
