import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { ScalarType } from '../../../../src/api/schema/index.ts';
import * as language from '../../../../src/api/schema/index.ts';
import { required, struct } from '../../../../src/api/schema/index.ts';
import { walk } from './walk.ts';

function read(type: ScalarType, value: unknown): unknown {
  const holder = struct('Holder', { it: required(1, type, 'It.') });
  const { kept, wrong } = walk(holder, { it: value });
  if (wrong[0] !== undefined) return wrong[0].message;
  return kept;
}

function accepts(type: ScalarType, value: unknown, as: unknown = value): void {
  assert.deepEqual(read(type, value), { it: as }, JSON.stringify(value));
}

function refuses(type: ScalarType, expected: string, ...values: unknown[]): void {
  for (const value of values) {
    const message = read(type, value);
    assert.equal(typeof message, 'string', `${JSON.stringify(value)} was accepted`);
    assert.ok(String(message).startsWith(`expected ${expected}, found `), String(message));
  }
}

describe('scalars', () => {
  test('text, truth and numbers are not taken for each other', () => {
    accepts(language.string, '');
    refuses(language.string, 'a string', 1, true, {}, []);
    accepts(language.bool, false);
    refuses(language.bool, 'true or false', 'true', 0, {});
    accepts(language.double, 1.5);
    refuses(language.double, 'a number', '1.5', Number.POSITIVE_INFINITY);
  });

  test('integers have their bounds and no fractions', () => {
    for (const value of [0, -1, 2 ** 31 - 1, -(2 ** 31)]) accepts(language.int32, value);
    refuses(language.int32, 'a 32-bit integer', 2 ** 31, -(2 ** 31) - 1, 1.5, '1', Number.NaN);
    for (const value of [2 ** 53 - 1, -(2 ** 53) + 1]) accepts(language.int64, value);
    refuses(language.int64, 'an integer between ±2^53', 2 ** 54, 0.5, '5');
    accepts(language.intOrString, 5);
    accepts(language.intOrString, '50%');
    refuses(language.intOrString, 'a 32-bit integer or a string', 2 ** 40, true);
  });

  test('base64 may be broken into lines, which are joined', () => {
    for (const value of ['', 'QQ==', 'QUI=', 'QUJD', '+/+/']) accepts(language.bytes, value);
    accepts(language.bytes, 'QUJD\r\nQUI=\n', 'QUJDQUI=');
    refuses(language.bytes, 'base64 text', 'Q', 'QQ', 'QQ=', 'Q===', '====', 'QQ==QQ==', 'Q-_D', 'QU JD', 7);
  });

  test('base64 of any length takes time in proportion', () => {
    const large = 'QUJD'.repeat(3_000_000);
    accepts(language.bytes, large);
    refuses(language.bytes, 'base64 text', `${large}!`);
  });

  test('a time is kept in whole seconds of UTC', () => {
    accepts(language.time, '2024-02-29T23:59:59Z');
    accepts(language.time, '2024-01-01T01:00:00.999+01:00', '2024-01-01T00:00:00Z');
    accepts(language.time, '2023-12-31T19:30:00-04:30', '2024-01-01T00:00:00Z');
  });

  test('a time with microseconds is kept with exactly six digits, which other clients insist on', () => {
    accepts(language.microTime, '2024-01-01T00:00:00.123456Z');
    accepts(language.microTime, '2024-01-01T00:00:00Z', '2024-01-01T00:00:00.000000Z');
    accepts(language.microTime, '2024-01-01T00:00:00.123Z', '2024-01-01T00:00:00.123000Z');
    accepts(language.time, '2024-01-02T00:00:00+24:00', '2024-01-01T00:00:00Z'); // as the reference's parser
    accepts(language.time, '2024-01-01T00:00:00-24:60', '2024-01-02T01:00:00Z');
    accepts(language.microTime, '2024-01-01T01:00:00.123456789+01:00', '2024-01-01T00:00:00.123456Z');
  });

  test('a time that is on no calendar is none', () => {
    const days = [
      '2024-02-30',
      '2023-02-29',
      '2024-13-01',
      '2024-00-10',
      '2024-04-31',
      '2024-01-00',
      '24-01-01',
    ];
    refuses(language.time, 'an RFC 3339 time', ...days.map((day) => `${day}T00:00:00Z`));
    const clocks = [
      '24:00:00Z',
      '23:60:00Z',
      '23:59:60Z',
      '00:00:00',
      '00:00:00z',
      '00:00Z',
      '00:00:00+99:99',
      '00:00:00+25:00',
      '00:00:00-00:61',
    ];
    refuses(language.time, 'an RFC 3339 time', ...clocks.map((clock) => `2024-01-01T${clock}`));
    refuses(
      language.microTime,
      'an RFC 3339 time',
      '2024-01-01 00:00:00Z',
      '',
      0,
      '2024-01-01T00:00:00.1234567890Z',
    );
    refuses(language.time, 'an RFC 3339 time', '0000-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00');
  });

  test('what is kept of a time is the same instant and stays as it is when read again', () => {
    const instant = fc.date({
      min: new Date('0001-01-02T00:00:00Z'),
      max: new Date('9999-12-30T00:00:00Z'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instant, fc.integer({ min: -14, max: 14 }), (date, hours) => {
        const zone = `${hours < 0 ? '-' : '+'}${String(Math.abs(hours)).padStart(2, '0')}:00`;
        const local = new Date(date.getTime() + hours * 3_600_000).toISOString().slice(0, 23);
        const utc = date.toISOString();
        accepts(language.time, `${local}${zone}`, `${utc.slice(0, 19)}Z`);
        accepts(language.microTime, `${local}${zone}`, `${utc.slice(0, 23)}000Z`);
        accepts(language.microTime, `${utc.slice(0, 23)}000Z`);
      }),
    );
  });

  test('durations and quantities', () => {
    for (const value of ['0', '1m30s', '1.5h', '-2ms', '+5us', '3µs']) accepts(language.duration, value);
    refuses(language.duration, 'a duration such as 1m30s', '', '5', 'm', '1m30', '1 m', 90);
    for (const value of ['0', '500m', '16Gi', '1e3', '1E', '-1', '5n']) accepts(language.quantity, value);
    accepts(language.quantity, 4, '4');
    accepts(language.quantity, 0.5, '500m');
    refuses(
      language.quantity,
      'a quantity such as 500m or 16Gi',
      '',
      'Gi',
      '1 Gi',
      '1gi',
      '1e',
      '0x10',
      true,
      Number.POSITIVE_INFINITY,
      '1'.repeat(65),
    );
  });

  test('fields of managers are an object, raw is anything', () => {
    accepts(language.fieldsV1, { 'f:spec': {} });
    refuses(language.fieldsV1, 'an object', 'f:spec', [], 1);
    for (const value of [1, 'x', [null], { a: { b: null } }, false]) accepts(language.raw, value);
  });
});
