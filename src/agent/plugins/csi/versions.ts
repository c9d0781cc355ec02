/** `1.9.0` or `v1.9.0`, with as many parts as one likes; what follows a hyphen or plus says nothing about the interface. */
const versionPattern = /^v?(\d{1,9}(?:\.\d{1,9}){0,3})(?:[-+].{0,64})?$/;

function partsOf(version: string): readonly number[] | undefined {
  return versionPattern.exec(version)?.[1]?.split('.').map(Number);
}

/** Below zero when `one` is the lower version; versions that are none count as 0. */
export function compareVersions(one: string, other: string): number {
  const [left, right] = [partsOf(one) ?? [], partsOf(other) ?? []];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The highest version 1.x among those that a driver names. Throws an Error that says why there is none; as in the
 * reference 0.x is refused, and 2.x and later, which need not be compatible, is passed over.
 */
export function chooseVersion(versions: readonly string[]): string {
  const known = versions.filter((version) => partsOf(version) !== undefined);
  const one = known.filter((version) => partsOf(version)?.[0] === 1).sort(compareVersions);
  const highest = one.at(-1);
  if (highest !== undefined) return highest;
  const told = versions.map((version) => JSON.stringify(version)).join(', ') || 'none';
  if (known.some((version) => partsOf(version)?.[0] === 0)) {
    throw new Error(
      `CSI 0.x is not supported any more (the driver names ${told}): a driver of CSI 1.x is needed`,
    );
  }
  throw new Error(`none of the versions that the driver names is supported (${told}): CSI 1.x is needed`);
}
