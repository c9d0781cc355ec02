import { colon, quote } from '../../../json/index.ts';
import type { Conversion } from './conversion.ts';
import { closeLength, openLength, writeVarint } from './conversion.ts';
import { digitsAt } from './numbers.ts';

/*
 * Times as the server writes them, of the years from 1970 to 2099:
 *
 *     "2006-01-02T15:04:05Z"    "2006-01-02T15:04:05.000000Z"
 */

const secondsLength = '"2006-01-02T15:04:05'.length;
const dash = 0x2d;
const letterT = 0x54;
const dot = 0x2e;
const letterZ = 0x5a;

function hasPunctuation({ json, at }: Conversion): boolean {
  return (
    json[at] === quote &&
    json[at + 5] === dash &&
    json[at + 8] === dash &&
    json[at + 11] === letterT &&
    json[at + 14] === colon &&
    json[at + 17] === colon
  );
}

/** Copies a time in whole seconds; false, with nothing read, where there is any other value. */
export function copySeconds(conversion: Conversion): boolean {
  const seconds = secondsAt(conversion);
  if (Number.isNaN(seconds) || !endsAt(conversion, secondsLength)) return false;
  conversion.at += secondsLength + 2;
  writeInstant(conversion, seconds, 0);
  return true;
}

/** Copies a time with six digits of a second; false, with nothing read, where there is any other value. */
export function copyMicroseconds(conversion: Conversion): boolean {
  const seconds = secondsAt(conversion);
  const micros = digitsAt(conversion, secondsLength + 1, 6);
  if (Number.isNaN(seconds + micros) || !endsAt(conversion, secondsLength + 7)) return false;
  if (conversion.json[conversion.at + secondsLength] !== dot) return false;
  conversion.at += secondsLength + 9;
  writeInstant(conversion, seconds, micros * 1000);
  return true;
}

function endsAt({ json, at }: Conversion, offset: number): boolean {
  return json[at + offset] === letterZ && json[at + offset + 1] === quote;
}

/** Seconds since 1970; NaN where the text is no such time. */
function secondsAt(conversion: Conversion): number {
  if (!hasPunctuation(conversion)) return Number.NaN;
  const year = digitsAt(conversion, 1, 4);
  const month = digitsAt(conversion, 6, 2);
  const day = digitsAt(conversion, 9, 2);
  const hour = digitsAt(conversion, 12, 2);
  const minute = digitsAt(conversion, 15, 2);
  const second = digitsAt(conversion, 18, 2);
  const isPlain = year >= 1970 && year < 2100 && month >= 1 && month <= 12 && day >= 1 && day <= 31;
  if (!isPlain || !(hour < 24 && minute < 60 && second < 60)) return Number.NaN;
  if (day > 28) return parseDay(conversion); // it depends on the month whether there is such a day
  return ((daysUntil(year, month) + day - 1) * 24 + hour) * 3600 + minute * 60 + second;
}

/** Days from the beginning of 1970 to that of a month; from 1970 to 2099 every fourth year is a leap year. */
function daysUntil(year: number, month: number): number {
  const years = year - (month > 2 ? 0 : 1);
  const leaps = Math.floor(years / 4) - 492; // those up to 1969
  return (year - 1970) * 365 + leaps + (daysBeforeMonth[month - 1] ?? 0);
}

const daysBeforeMonth = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

function parseDay({ json, at }: Conversion): number {
  const text = Buffer.from(json.buffer, json.byteOffset + at + 1, secondsLength - 1).toString('latin1');
  return Date.parse(`${text}Z`) / 1000;
}

function writeInstant(conversion: Conversion, seconds: number, nanos: number): void {
  const lengthAt = openLength(conversion);
  writeVarint(conversion, 0x08);
  writeVarint(conversion, seconds);
  writeVarint(conversion, 0x10);
  writeVarint(conversion, nanos);
  closeLength(conversion, lengthAt);
}
