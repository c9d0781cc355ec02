/** When schedules come: by the wall clock of their time zone, also where that is set for daylight saving. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseSchedule } from '../../../../../src/api/index.ts';
import { nextTime, WallClock } from '../../../../../src/apiserver/workloads/cron-job/next-time.ts';

function listTimes(text: string, zone: string, after: string, count: number): (string | undefined)[] {
  const parsed = parseSchedule(text);
  assert.ok('schedule' in parsed, JSON.stringify(parsed));
  const clock = new WallClock(zone);
  const times: (string | undefined)[] = [];
  for (let at: number | undefined = Date.parse(after); at !== undefined && times.length < count; ) {
    at = nextTime(parsed.schedule, clock, at);
    times.push(at === undefined ? undefined : clock.format(at));
  }
  return times;
}

type Case = readonly [schedule: string, zone: string, after: string, times: readonly (string | undefined)[]];

const cases: Readonly<Record<string, readonly Case[]>> = {
  'fields, lists, ranges and steps': [
    ['* * * * *', 'UTC', '2025-01-01T00:00:00Z', ['2025-01-01T00:01:00Z', '2025-01-01T00:02:00Z']],
    ['* * * * *', 'UTC', '2025-01-01T00:00:59.999Z', ['2025-01-01T00:01:00Z']],
    ['*/15 * * * *', 'UTC', '2025-01-01T00:40:00Z', ['2025-01-01T00:45:00Z', '2025-01-01T01:00:00Z']],
    [
      '5/20 * * * *',
      'UTC',
      '2025-01-01T00:06:00Z',
      ['2025-01-01T00:25:00Z', '2025-01-01T00:45:00Z', '2025-01-01T01:05:00Z'],
    ],
    [
      '30 6-16/4 * * 1-5',
      'UTC',
      '2025-01-03T14:00:00Z',
      ['2025-01-03T14:30:00Z', '2025-01-06T06:30:00Z', '2025-01-06T10:30:00Z'],
    ],
    ['0 0,12 1 */3 *', 'UTC', '2025-01-01T00:00:00Z', ['2025-01-01T12:00:00Z', '2025-04-01T00:00:00Z']],
    ['0 0 * jan,MAR sun', 'UTC', '2025-01-20T00:00:00Z', ['2025-01-26T00:00:00Z', '2025-03-02T00:00:00Z']],
    ['59 23 31 12 *', 'UTC', '2025-12-31T23:59:00Z', ['2026-12-31T23:59:00Z']],
    ['0 0 29 2 *', 'UTC', '2025-01-01T00:00:00Z', ['2028-02-29T00:00:00Z']],
    ['0 0 31 2 *', 'UTC', '2025-01-01T00:00:00Z', [undefined]],
  ],
  'days of the month or of the week, unless one of them is any': [
    [
      '0 0 13 * 5',
      'UTC',
      '2025-01-01T00:00:00Z',
      ['2025-01-03T00:00:00Z', '2025-01-10T00:00:00Z', '2025-01-13T00:00:00Z'],
    ],
    ['0 0 13 * *', 'UTC', '2025-01-01T00:00:00Z', ['2025-01-13T00:00:00Z', '2025-02-13T00:00:00Z']],
    ['0 0 ? * 5', 'UTC', '2025-01-01T00:00:00Z', ['2025-01-03T00:00:00Z', '2025-01-10T00:00:00Z']],
    [
      '0 0 */10 * 5',
      'UTC',
      '2025-01-01T00:00:00Z',
      ['2025-01-03T00:00:00Z', '2025-01-10T00:00:00Z', '2025-01-11T00:00:00Z'],
    ],
  ],
  words: [
    ['@hourly', 'UTC', '2025-01-01T00:30:00Z', ['2025-01-01T01:00:00Z']],
    ['@daily', 'UTC', '2025-01-01T00:30:00Z', ['2025-01-02T00:00:00Z']],
    ['@weekly', 'UTC', '2025-01-01T00:30:00Z', ['2025-01-05T00:00:00Z']],
    ['@monthly', 'UTC', '2025-01-01T00:30:00Z', ['2025-02-01T00:00:00Z']],
    ['@yearly', 'UTC', '2025-01-01T00:30:00Z', ['2026-01-01T00:00:00Z']],
    ['@every 1h30m', 'UTC', '2025-01-01T00:00:10.5Z', ['2025-01-01T01:30:10Z', '2025-01-01T03:00:10Z']],
    ['@every 10ms', 'UTC', '2025-01-01T00:00:00Z', ['2025-01-01T00:00:01Z']],
  ],
  'time zones': [
    ['0 9 * * *', 'Asia/Kolkata', '2025-01-01T00:00:00Z', ['2025-01-01T09:00:00+05:30']],
    ['0 9 * * 1', 'America/New_York', '2025-01-05T23:00:00Z', ['2025-01-06T09:00:00-05:00']],
    ['0 0 1 * *', 'Pacific/Auckland', '2025-01-30T00:00:00Z', ['2025-02-01T00:00:00+13:00']],
  ],
  'an hour that is left out in spring does not come': [
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2025-03-29T00:00:00Z',
      ['2025-03-29T02:30:00+01:00', '2025-03-31T02:30:00+02:00'],
    ],
    [
      '0 * * * *',
      'Europe/Berlin',
      '2025-03-30T00:00:00Z',
      ['2025-03-30T03:00:00+02:00', '2025-03-30T04:00:00+02:00'],
    ],
    ['0 0 * * *', 'America/Santiago', '2025-09-06T12:00:00Z', ['2025-09-08T00:00:00-03:00']],
    ['0 12 30 12 *', 'Pacific/Apia', '2011-12-29T00:00:00Z', ['2012-12-30T12:00:00+14:00']],
  ],
  'a day of 23 hours is not left by an hour too late': [
    ['30 0 31 3 *', 'Europe/Berlin', '2025-03-20T00:00:00Z', ['2025-03-31T00:30:00+02:00']],
  ],
  'an hour that comes twice in autumn does so': [
    [
      '30 2 * * *',
      'Europe/Berlin',
      '2025-10-25T12:00:00Z',
      ['2025-10-26T02:30:00+02:00', '2025-10-26T02:30:00+01:00', '2025-10-27T02:30:00+01:00'],
    ],
    [
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2025-04-05T00:00:00Z',
      ['2025-04-06T01:45:00+11:00', '2025-04-06T01:45:00+10:30', '2025-04-07T01:45:00+10:30'],
    ],
  ],
};

describe('the next time of a schedule', () => {
  for (const [name, group] of Object.entries(cases)) {
    test(name, () => {
      for (const [schedule, zone, after, times] of group)
        assert.deepEqual(listTimes(schedule, zone, after, times.length), times, `${schedule} in ${zone}`);
    });
  }

  test('is the same as looking at every minute, around each change of the clocks', () => {
    const days = ['2025-03-01', '2025-03-08', '2025-03-29', '2025-04-05', '2025-10-25', '2025-11-01'];
    for (const zone of ['Europe/Berlin', 'America/New_York', 'Africa/Casablanca']) {
      const clock = new WallClock(zone);
      for (const text of ['7 */5 * * *', '0 0 1 * 0', '*/17 1-3 * 3,10 *', '30 2 * * *'])
        for (const day of days) {
          const begin = Date.parse(`${day}T00:00:00Z`);
          const limit = begin + 2 * 86_400_000;
          const expected = findByMinutes(text, clock, begin, limit);
          const parsed = parseSchedule(text);
          const found = 'schedule' in parsed ? nextTime(parsed.schedule, clock, begin) : undefined;
          const inTime = found !== undefined && found <= limit ? found : undefined;
          assert.equal(inTime, expected, `${text} in ${zone} after ${day}`);
        }
    }
  });
});

function findByMinutes(text: string, clock: WallClock, begin: number, limit: number): number | undefined {
  const parsed = parseSchedule(text);
  assert.ok('schedule' in parsed && !('everySeconds' in parsed.schedule));
  const { minutes, hours, months, daysOfMonth, daysOfWeek, mustFitBoth } = parsed.schedule;
  for (let at = begin + 60_000; at <= limit; at += 60_000) {
    const wall = clock.read(at);
    const days = [daysOfMonth.has(wall.day), daysOfWeek.has(wall.weekday)];
    const isDay = mustFitBoth ? days.every(Boolean) : days.some(Boolean);
    if (isDay && months.has(wall.month) && hours.has(wall.hour) && minutes.has(wall.minute)) return at;
  }
  return undefined;
}
