import type { CalendarSchedule, Schedule } from '../../../api/index.ts';

/*
 * A schedule means the minutes whose wall clock in its time zone fits. So a time that a change to daylight saving leaves out
 * does not come on that day, and one that the change back repeats comes twice; as in the reference.
 */

const minuteMs = 60_000;
const dayMinutes = 1440;
/** How far is looked, as in the reference: a schedule for 31 February never comes. */
const maxYears = 5;

/** The first time after `afterMs` that fits, wall clock, ms; undefined: there is none for five years. */
export function nextTime(schedule: Schedule, zone: WallClock, afterMs: number): number | undefined {
  if ('everySeconds' in schedule) return (Math.floor(afterMs / 1000) + schedule.everySeconds) * 1000;
  let atMs = (Math.floor(afterMs / minuteMs) + 1) * minuteMs;
  const limitMs = atMs + maxYears * 366 * dayMinutes * minuteMs;
  while (atMs <= limitMs) {
    const wall = zone.read(atMs);
    const minutes = minutesToSkip(schedule, wall);
    if (minutes === 0) return atMs;
    atMs = zone.advance(atMs, minutes);
  }
  return undefined;
}

/** How many minutes of the wall clock certainly do not fit; 0: this one does. */
function minutesToSkip(schedule: CalendarSchedule, wall: WallTime): number {
  if (!schedule.months.has(wall.month) || !fitsDay(schedule, wall))
    return dayMinutes - wall.hour * 60 - wall.minute;
  if (!schedule.hours.has(wall.hour)) return 60 - wall.minute;
  return schedule.minutes.has(wall.minute) ? 0 : 1;
}

function fitsDay({ daysOfMonth, daysOfWeek, mustFitBoth }: CalendarSchedule, wall: WallTime): boolean {
  const [ofMonth, ofWeek] = [daysOfMonth.has(wall.day), daysOfWeek.has(wall.weekday)];
  return mustFitBoth ? ofMonth && ofWeek : ofMonth || ofWeek;
}

/** What a clock on the wall shows. */
export interface WallTime {
  /** From 1. */
  readonly month: number;
  readonly day: number;
  /** From 0, Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

/** The clocks of a time zone. */
export class WallClock {
  readonly #format: Intl.DateTimeFormat;

  /** Throws RangeError for a zone that is not known; without one it is that of this process. */
  constructor(zone?: string) {
    this.#format = new Intl.DateTimeFormat('en-US', {
      ...(zone === undefined ? {} : { timeZone: zone }),
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' },
    });
  }

  read(atMs: number): WallTime {
    const wall = new Date(atMs + this.offsetMs(atMs));
    return {
      month: wall.getUTCMonth() + 1,
      day: wall.getUTCDate(),
      weekday: wall.getUTCDay(),
      hour: wall.getUTCHours(),
      minute: wall.getUTCMinutes(),
    };
  }

  /** The time at which the wall clock has gone on by some minutes, or an earlier one where it is set in between. */
  advance(atMs: number, minutes: number): number {
    const laterMs = atMs + minutes * minuteMs;
    if (minutes <= 1 || this.offsetMs(laterMs) === this.offsetMs(atMs)) return laterMs;
    return this.advance(atMs, Math.floor(minutes / 2));
  }

  /** How far it is ahead of UTC. */
  offsetMs(atMs: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(atMs)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(atMs / 1000) * 1000;
  }

  /** As RFC 3339 writes it, with the offset of the zone. */
  format(atMs: number): string {
    const offsetMinutes = Math.round(this.offsetMs(atMs) / minuteMs);
    const text = new Date(atMs + offsetMinutes * minuteMs).toISOString().slice(0, 19);
    if (offsetMinutes === 0) return `${text}Z`;
    const size = Math.abs(offsetMinutes);
    const two = (number: number) => String(number).padStart(2, '0');
    return `${text}${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }
}
