import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { inFlightLimiter } from '../../../../src/apiserver/http/in-flight.ts';

const tooMany = { reason: 'TooManyRequests', code: 429, details: { retryAfterSeconds: 1 } };

describe('requests in flight', () => {
  test('beyond the limit one is refused, until a seat is given back', () => {
    const enter = inFlightLimiter({ reading: 2, mutating: 1 });
    const seats = [enter('GET'), enter('HEAD')];
    assert.throws(() => enter('GET'), tooMany);
    seats[0]?.[Symbol.dispose]();
    enter('GET');
    assert.throws(() => enter('GET'), tooMany);
  });

  test('readers and writers have seats of their own', () => {
    const enter = inFlightLimiter({ reading: 1, mutating: 1 });
    enter('GET');
    enter('POST');
    for (const method of ['PUT', 'DELETE', 'PATCH']) assert.throws(() => enter(method), tooMany);
  });

  test('a seat that is given back twice is one seat', () => {
    const enter = inFlightLimiter({ reading: 1, mutating: 1 });
    const seat = enter('GET');
    seat[Symbol.dispose]();
    seat[Symbol.dispose]();
    enter('GET');
    assert.throws(() => enter('GET'), tooMany);
  });
});
