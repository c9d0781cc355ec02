const suffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'] as const;

/**
 * Bytes as the API writes them: with the largest binary suffix that divides them exactly (`16Gi`, `24684084Ki`),
 * else as a plain number.
 */
export function formatBytes(bytes: number): string {
  let value = Math.max(0, Math.trunc(bytes));
  let power = 0;
  while (value !== 0 && value % 1024 === 0 && power < suffixes.length - 1) {
    value /= 1024;
    power += 1;
  }
  return `${value}${suffixes[power]}`;
}

/** Formats thousandths: `2`, `1500m`. */
export function formatMillis(millis: number): string {
  const value = Math.max(0, Math.ceil(millis));
  return value % 1000 === 0 ? String(value / 1000) : `${value}m`;
}
