/*
 * Schedules in the format of cron: five fields, for minute, hour, day of month, month and day of week, each with lists,
 * ranges and steps; or a word such as @daily. They are checked here as the reference reads them.
 */

interface Bounds {
  name: string;
  least: number;
  most: number;
  words?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fields: readonly Bounds[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of month', least: 1, most: 31 },
  { name: 'month', least: 1, most: 12, words: months },
  { name: 'day of week', least: 0, most: 6, words: days },
];

const words = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** What is wrong with a schedule, or undefined. */
export function checkSchedule(schedule: string): string | undefined {
  const text = schedule.replace(/^(?:CRON_)?TZ=\S+\s+/, '');
  if (text.startsWith('@every ')) return checkEvery(text.slice('@every '.length));
  if (text.startsWith('@')) return words.includes(text) ? undefined : `unrecognized descriptor: ${text}`;
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length)
    return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  for (const [index, bounds] of fields.entries()) {
    const wrong = checkField(parts[index] ?? '', bounds);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkEvery(duration: string): string | undefined {
  return /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(duration)
    ? undefined
    : `failed to parse duration @every ${duration}`;
}

function checkField(text: string, bounds: Bounds): string | undefined {
  for (const part of text.split(',')) {
    const wrong = checkPart(part, bounds);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** `*`, `5`, `1-5`, `*\/10`, `mon-fri`. */
function checkPart(part: string, bounds: Bounds): string | undefined {
  const [range = '', step, ...more] = part.split('/');
  if (more.length > 0) return `too many slashes: ${part}`;
  const [from = '', to, ...rest] = range.split('-');
  if (rest.length > 0) return `too many hyphens: ${part}`;
  if (from === '*' || from === '?') {
    if (to !== undefined) return `failed to parse int from ${from}: ${part}`;
  } else {
    const wrong = checkOrder(
      readNumber(from, bounds),
      to === undefined ? undefined : readNumber(to, bounds),
      part,
      bounds,
    );
    if (wrong !== undefined) return wrong;
  }
  if (step === undefined) return undefined;
  if (!/^\d+$/.test(step)) return `failed to parse int from ${step}`;
  return Number(step) === 0 ? `step of range should be a positive number: ${part}` : undefined;
}

function checkOrder(
  first: number,
  last: number | undefined,
  part: string,
  { least, most }: Bounds,
): string | undefined {
  if (Number.isNaN(first) || Number.isNaN(last ?? 0)) return `failed to parse int from ${part}`;
  if (first < least) return `beginning of range (${first}) below minimum (${least}): ${part}`;
  const end = last ?? first;
  if (end > most) return `end of range (${end}) above maximum (${most}): ${part}`;
  return first > end ? `beginning of range (${first}) beyond end of range (${end}): ${part}` : undefined;
}

function readNumber(text: string, { words: named = [], least }: Bounds): number {
  const at = named.indexOf(text.toLowerCase());
  if (at >= 0) return at + least;
  return /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
}

/** What is wrong with the name of a time zone, or undefined. */
export function checkTimeZone(zone: string): string | undefined {
  if (zone === '') return 'timeZone must be nil or non-empty string';
  if (zone.toLowerCase() === 'local')
    return 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones';
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return `unknown time zone ${zone}`;
    throw error;
  }
}
