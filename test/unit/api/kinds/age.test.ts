import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ageOf } from '../../../../src/api/index.ts';

const now = Date.UTC(2024, 0, 1);
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

test('an age is told in at most two units, the coarser the longer', () => {
  const ages: [number, string][] = [
    [0, '0s'],
    [119.9, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 59, '9m59s'],
    [10 * minute, '10m'],
    [3 * hour - 1, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [8 * hour, '8h'],
    [48 * hour - 1, '47h'],
    [2 * day, '2d'],
    [2 * day + 5 * hour, '2d5h'],
    [8 * day, '8d'],
    [2 * year - 1, '729d'],
    [2 * year, '2y'],
    [3 * year + 10 * day, '3y10d'],
    [8 * year + 300 * day, '8y'],
  ];
  for (const [seconds, text] of ages) {
    assert.equal(ageOf(new Date(now - seconds * 1000).toISOString(), now), text);
  }
});

test('a clock that is a little ahead is no matter, one far ahead or no time at all is told', () => {
  assert.equal(ageOf(new Date(now + 1900).toISOString(), now), '0s');
  assert.equal(ageOf(new Date(now + 2000).toISOString(), now), '<invalid>');
  assert.equal(ageOf(undefined, now), '<unknown>');
  assert.equal(ageOf('yesterday', now), '<invalid>');
});
