/*
 * Schedules in the format of cron: five fields, for minute, hour, day of month, month and day of week, each with lists,
 * ranges and steps; or a word such as @daily. They are read here as the reference reads them.
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

/** When jobs are begun: each so many seconds, or in the minutes that fit. */
export type Schedule = { readonly everySeconds: number } | CalendarSchedule;

/** The values of each field that fit. */
export interface CalendarSchedule {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  /** From 1. */
  readonly months: ReadonlySet<number>;
  /** From 0, Sunday. */
  readonly daysOfWeek: ReadonlySet<number>;
  /** Whether a day must fit both as that of a month and of a week, since one of them is `*`; else one is enough. */
  readonly mustFitBoth: boolean;
}

export type ParsedSchedule =
  | {
      readonly schedule: Schedule;
      /** What `TZ=` in front of it names. */
      readonly zone?: string;
    }
  /** What is wrong with it. */
  | { readonly wrong: string };

const words: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** What is wrong with a schedule, or undefined. */
export function checkSchedule(text: string): string | undefined {
  const parsed = parseSchedule(text);
  return 'wrong' in parsed ? parsed.wrong : undefined;
}

export function parseSchedule(text: string): ParsedSchedule {
  const [, zone, rest = ''] = /^(?:(?:CRON_)?TZ=(\S+)\s+)?(.*)$/s.exec(text) ?? [];
  const parsed = parseTimes(rest);
  return zone === undefined || 'wrong' in parsed ? parsed : { ...parsed, zone };
}

function parseTimes(text: string): ParsedSchedule {
  if (text.startsWith('@every ')) return parseEvery(text.slice('@every '.length));
  if (text.startsWith('@')) {
    const meant = Object.hasOwn(words, text) ? words[text] : undefined;
    return meant === undefined ? { wrong: `unrecognized descriptor: ${text}` } : parseTimes(meant);
  }
  const parts = text.trim().split(/\s+/);
  if (parts.length !== fields.length)
    return { wrong: `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]` };
  const parsed: ParsedField[] = [];
  for (const [index, bounds] of fields.entries()) {
    const next = parseField(parts[index] ?? '', bounds);
    if (typeof next === 'string') return { wrong: next };
    parsed.push(next);
  }
  const [minutes = anything, hours = anything, ...others] = parsed;
  const [days = anything, named = anything, weekdays = anything] = others;
  return {
    schedule: {
      ...{ minutes: minutes.values, hours: hours.values, daysOfMonth: days.values },
      ...{ months: named.values, daysOfWeek: weekdays.values, mustFitBoth: days.isAny || weekdays.isAny },
    },
  };
}

const unitSeconds: Readonly<Record<string, number>> = {
  ...{ ns: 1e-9, us: 1e-6, µs: 1e-6, ms: 1e-3 },
  ...{ s: 1, m: 60, h: 3600 },
};

/** Whole seconds, at least one. */
function parseEvery(duration: string): ParsedSchedule {
  if (!/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(duration))
    return { wrong: `failed to parse duration @every ${duration}` };
  let seconds = 0;
  for (const [, number = '', unit = ''] of duration.matchAll(/([\d.]+)([a-zµ]+)/g))
    seconds += Number(number) * (unitSeconds[unit] ?? 0);
  return { schedule: { everySeconds: Math.max(1, Math.floor(seconds)) } };
}

interface ParsedField {
  readonly values: ReadonlySet<number>;
  /** Whether it is `*`, maybe in a list; with a step it is not. */
  readonly isAny: boolean;
}

const anything: ParsedField = { values: new Set(), isAny: true };

/** A text says what is wrong. */
function parseField(text: string, bounds: Bounds): ParsedField | string {
  const values = new Set<number>();
  let isAny = false;
  for (const part of text.split(',')) {
    const parsed = parsePart(part, bounds);
    if (typeof parsed === 'string') return parsed;
    for (const value of parsed.values) values.add(value);
    isAny ||= parsed.isAny;
  }
  return { values, isAny };
}

/** `*`, `5`, `1-5`, `*\/10`, `5/10`, `mon-fri`. */
function parsePart(part: string, bounds: Bounds): ParsedField | string {
  const [range = '', step, ...more] = part.split('/');
  if (more.length > 0) return `too many slashes: ${part}`;
  const [from = '', to, ...rest] = range.split('-');
  if (rest.length > 0) return `too many hyphens: ${part}`;
  const isStar = from === '*' || from === '?';
  if (isStar && to !== undefined) return `failed to parse int from ${from}: ${part}`;
  const first = isStar ? bounds.least : readNumber(from, bounds);
  const last = isStar ? bounds.most : to === undefined ? undefined : readNumber(to, bounds);
  const wrong = checkOrder(first, last, part, bounds);
  if (wrong !== undefined) return wrong;
  if (step !== undefined && !/^\d+$/.test(step)) return `failed to parse int from ${step}`;
  const by = step === undefined ? 1 : Number(step);
  if (by === 0) return `step of range should be a positive number: ${part}`;
  const end = last ?? (step === undefined ? first : bounds.most);
  const values = new Set<number>();
  for (let value = first; value <= end; value += by) values.add(value);
  return { values, isAny: isStar && by === 1 };
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
