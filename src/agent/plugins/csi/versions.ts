/** `1.9.0` or `v1.9.0`, with one to four parts; a suffix after a hyphen or plus does not concern the interface. */
const versionPattern = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?:[-+].{0,64})?$/;

function parseVersion(version: string): readonly number[] | undefined {
  return versionPattern.exec(version)?.[1]?.split('.').map(Number);
}

/** Returns a number below zero when `one` is the lower version; an invalid version counts as 0. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [parseVersion(one) ?? [], parseVersion(other) ?? []];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Returns the highest version 1.x among those that a driver names. Throws an Error that says why there is none. As in the
 * reference 0.x is refused, and 2.x and later, which may be incompatible, is ignored.
 */
export function chooseVersion(versions: readonly string[]): string {
  const known = versions.filter((version) => parseVersion(version) !== undefined);
  const one = known.filter((version) => parseVersion(version)?.[0] === 1).sort(compareVersions);
  const highest = one.at(-1);
  if (highest !== undefined) return highest;
  const list = versions.map((version) => JSON.stringify(version)).join(', ') || 'none';
  if (known.some((version) => parseVersion(version)?.[0] === 0)) {
    throw new Error(
      `CSI 0.x is not supported any more (the driver names ${list}): a driver of CSI 1.x is needed`,
    );
  }
  throw new Error(`none of the versions that the driver names is supported (${list}): CSI 1.x is needed`);
}
