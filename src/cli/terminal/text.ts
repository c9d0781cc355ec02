/**
 * Replaces what a terminal would interpret and what would break the line with question marks: control characters,
 * line separators and changes of the writing direction. For text that others wrote.
 */
export function sanitize(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]|\p{Bidi_Control}/gu, '?');
}

/** 1536 is `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = bytes;
  let unit = 0;
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? size : size.toFixed(1)} ${units[unit]}`;
}

const durationUnits = [
  ['d', 86_400],
  ['h', 3600],
  ['m', 60],
] as const;

/** In the largest unit of which it has at least two: `10s`, `60m`, `3h`, `2d`; `-` for NaN, `0s` below zero. */
export function formatRoughDuration(ms: number): string {
  if (!Number.isFinite(ms)) return '-';
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [unit, length] = durationUnits.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.floor(seconds / length)}${unit}`;
}

/** Quotes a word for a POSIX shell where it needs that. */
export function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
