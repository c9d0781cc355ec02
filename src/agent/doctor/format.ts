/** `1.5 GiB` */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const amount = bytes / 1024 ** power;
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

/** `3 days`, `2 hours`, `5 s`; without the sign. */
export function formatDuration(ms: number): string {
  const steps: [number, string][] = [
    [24 * 3600_000, 'day'],
    [3600_000, 'hour'],
    [60_000, 'minute'],
  ];
  const size = Math.abs(ms);
  const [step, unit] = steps.find(([each]) => size >= each) ?? [];
  return step === undefined
    ? `${(size / 1000).toFixed(size < 10_000 ? 1 : 0)} s`
    : formatCount(Math.round(size / step), `${unit}`);
}

export const formatCount = (count: number, what: string): string =>
  `${count} ${what}${count === 1 ? '' : 's'}`;

/** The first `limit` of a list, and how many more there are. */
export function formatList(all: readonly string[], limit = 5): string {
  const rest = all.length - limit;
  return rest > 0 ? `${all.slice(0, limit).join(', ')} and ${rest} more` : all.join(', ');
}
