/** The leading numbers of a version: `6.1.0-18-amd64` is [6, 1, 0]; empty where it starts with none. */
export function parseVersion(version: string): readonly number[] {
  return (/^v?(\d+(?:\.\d+)*)/.exec(version)?.[1] ?? '').split('.').filter(Boolean).map(Number);
}

/** Whether `version` is `minVersion` or later; undefined where it is no version. */
export function isAtLeast(version: string, minVersion: string): boolean | undefined {
  const [have, want] = [parseVersion(version), parseVersion(minVersion)];
  if (have.length === 0) return undefined;
  for (const [index, number] of want.entries()) {
    const difference = (have[index] ?? 0) - number;
    if (difference !== 0) return difference > 0;
  }
  return true;
}
