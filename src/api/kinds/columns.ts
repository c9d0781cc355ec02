import type { ApiObject, Column } from './kind.ts';

/** Formats how long ago `time` was, in the short form of the tables: `45s`, `3m20s`, `5h2m`, `12d`. */
export function ageOf(time: string | undefined, now: number): string {
  if (!time) return '<unknown>'; // null where it is not set
  const seconds = Math.trunc((now - Date.parse(time)) / 1000);
  if (Number.isNaN(seconds) || seconds < -1) return '<invalid>';
  return shortDuration(seconds);
}

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats a duration as `45s`, `3m20s`, `5h2m`, `12d`; a negative one as `0s`. */
export function shortDuration(seconds: number): string {
  if (seconds < 0) return '0s';
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return twoParts(seconds, minute, 'm', 1, 's');
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return twoParts(seconds, hour, 'h', minute, 'm');
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return twoParts(seconds, day, 'd', hour, 'h');
  if (seconds < 2 * 365 * day) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * 365 * day) return twoParts(seconds, 365 * day, 'y', day, 'd');
  return `${Math.floor(seconds / (365 * day))}y`;
}

function twoParts(
  seconds: number,
  large: number,
  largeUnit: string,
  small: number,
  smallUnit: string,
): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${largeUnit}${rest === 0 ? '' : `${rest}${smallUnit}`}`;
}

/** The last column of most tables. */
export const ageColumn: Column<ApiObject> = {
  name: 'Age',
  type: 'string',
  description: 'Time since the object was created.',
  priority: 0,
  value: (object, now) => ageOf(object.metadata?.creationTimestamp, now),
};

/** A column of text. */
export function textColumn<T>(
  name: string,
  priority: number,
  description: string,
  value: (object: T) => string,
): Column<T> {
  return { name, type: 'string', description, priority, value };
}

/** A column of whole numbers; 0 where there is none. */
export function countColumn<T>(
  name: string,
  description: string,
  value: (object: T) => number | undefined,
): Column<T> {
  return { name, type: 'integer', description, priority: 0, value: (object) => value(object) ?? 0 };
}
