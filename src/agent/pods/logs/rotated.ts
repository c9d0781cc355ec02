/*
 * Names of rotated logs. The time in them is UTC and only ever goes up, even when the clock does not: several of one second
 * are counted, `_000001`, which sorts behind the first of them in every program that sorts by name, compressed or not.
 */

export interface Rotated {
  /** Without `.gz`. */
  readonly name: string;
  readonly isCompressed: boolean;
}

const stampPattern = /^(\d{8}-\d{6})(?:_(\d{6}))?$/;

/** The rotated logs of `log` (such as `0.log`) among the names in its folder, the oldest first. */
export function listRotated(names: readonly string[], log: string): Rotated[] {
  const found = new Map<string, Rotated>();
  for (const each of names) {
    if (!each.startsWith(`${log}.`)) continue;
    const isCompressed = each.endsWith('.gz');
    const name = isCompressed ? each.slice(0, -3) : each;
    if (!stampPattern.test(name.slice(log.length + 1))) continue;
    // both are there when the agent was ended between the two steps of compressing; the plain one is whole
    if (!isCompressed || !found.has(name)) found.set(name, { name, isCompressed });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export const fileOf = ({ name, isCompressed }: Rotated): string => (isCompressed ? `${name}.gz` : name);

/** The name that the next rotated log gets; behind all that there are. */
export function nextRotatedName(names: readonly string[], log: string, nowMs: number): string {
  const stamp = formatStamp(nowMs);
  const [, last = '', count = '0'] =
    stampPattern.exec(
      listRotated(names, log)
        .at(-1)
        ?.name.slice(log.length + 1) ?? '',
    ) ?? [];
  if (last < stamp) return `${log}.${stamp}`;
  return `${log}.${last}_${String(Number(count) + 1).padStart(6, '0')}`;
}

/** `YYYYMMDD-hhmmss`. */
function formatStamp(ms: number): string {
  const [date = '', time = ''] = new Date(ms).toISOString().split(/[T.]/);
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}`;
}

export interface Tidying {
  /** To be compressed, the oldest first. */
  readonly compress: readonly string[];
  readonly remove: readonly string[];
}

/**
 * What is to be done with the rotated logs so that at most `maxFiles` are left, the current one included. The newest stays as
 * it is for those who read it.
 */
export function planTidying(names: readonly string[], log: string, maxFiles: number): Tidying {
  const rotated = listRotated(names, log);
  const kept = rotated.slice(Math.max(0, rotated.length - Math.max(1, maxFiles - 1)));
  const keptNames = new Set(kept.map(({ name }) => name));
  const files = new Set(names);
  const excess = rotated
    .filter(({ name }) => !keptNames.has(name))
    .flatMap(({ name }) => [name, `${name}.gz`]);
  const doubled = kept.filter(({ isCompressed }) => !isCompressed).map(({ name }) => `${name}.gz`);
  const unfinished = names.filter((name) => name.startsWith(`${log}.`) && name.endsWith('.tmp'));
  return {
    compress: kept.slice(0, -1).flatMap(({ name, isCompressed }) => (isCompressed ? [] : [name])),
    remove: [...excess, ...doubled].filter((name) => files.has(name)).concat(unfinished),
  };
}
