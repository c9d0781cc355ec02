import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { StatusError } from '../../../../../src/api/index.ts';
import { continueTokens } from '../../../../../src/apiserver/handlers/index.ts';
import { continueTokenKey } from '../../../../../src/apiserver/pki/index.ts';
import { createAuthority } from '../../../../../src/base/x509/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

const key = new Uint8Array(32).fill(7);
const minuteMs = 60_000;
const position = { revision: 4711, after: '/registry/leases/default/node-17' };

const isBadRequest = (error: unknown) => error instanceof StatusError && error.code === 400;

describe('a continue token', () => {
  test('says where its list goes on, whatever the key and the list are called', () => {
    const tokens = continueTokens(key, createManualClock());
    const text = fc.string({ unit: 'grapheme', maxLength: 300 });
    const place = fc.record({ revision: fc.option(fc.nat(), { nil: undefined }), after: text });
    fc.assert(
      fc.property(text, place, (list, { revision, after }) => {
        const opened = tokens.open(list, tokens.seal(list, { revision, after }));
        assert.deepEqual(opened, { revision: revision || undefined, after, expired: false });
      }),
    );
  });

  test('is made of characters that need no escape in a URL, and takes the longest key there is', () => {
    const tokens = continueTokens(key, createManualClock());
    const after = `/${'\u0001'.repeat(4095)}`;
    const token = tokens.seal('list', { revision: Number.MAX_SAFE_INTEGER, after });
    assert.match(token, /^[\w-]+$/);
    assert.equal(tokens.open('list', token).after, after);
  });

  test('shows nothing of what is in it', () => {
    const token = continueTokens(key, createManualClock()).seal('list', position);
    assert.doesNotMatch(Buffer.from(token, 'base64url').toString('latin1'), /leases|node-17|4711/);
  });

  test('that was changed in any place is refused', () => {
    const tokens = continueTokens(key, createManualClock());
    const token = tokens.seal('list', position);
    const letters = 'AQgwBa0-_=+/ .é';
    for (let at = 0; at < token.length; at += 1) {
      for (const letter of letters) {
        if (letter === token[at]) continue;
        const changed = `${token.slice(0, at)}${letter}${token.slice(at + 1)}`;
        assert.throws(() => tokens.open('list', changed), isBadRequest, changed);
      }
    }
  });

  test('that is cut, lengthened or made up is refused', () => {
    const tokens = continueTokens(key, createManualClock());
    const token = tokens.seal('list', position);
    const cuts = Array.from({ length: token.length }, (_, length) => token.slice(0, length));
    for (const wrong of [
      ...cuts,
      `${token}A`,
      `${token}=`,
      `A${token}`,
      `${token}${token}`,
      'x'.repeat(1e6),
    ]) {
      assert.throws(() => tokens.open('list', wrong), isBadRequest, wrong.slice(0, 200));
    }
  });

  test('belongs to one list', () => {
    const tokens = continueTokens(key, createManualClock());
    const token = tokens.seal('list', position);
    for (const other of ['', 'lis', 'list ', 'List', 'list2']) {
      assert.throws(() => tokens.open(other, token), isBadRequest);
    }
  });

  test('is good for five minutes by the wall clock', async () => {
    const clock = createManualClock();
    const tokens = continueTokens(key, clock);
    const token = tokens.seal('list', position);
    await clock.advance(5 * minuteMs);
    assert.deepEqual(tokens.open('list', token), { ...position, expired: false });
    await clock.advance(1);
    assert.deepEqual(tokens.open('list', token), { ...position, expired: true });
    clock.setWall(-10 * minuteMs);
    assert.deepEqual(tokens.open('list', token), { ...position, expired: false }, 'the clock was set back');
  });

  test('is taken by every server of one authority, and by no other', async () => {
    const clock = createManualClock();
    const ours = await createAuthority('ours', 60 * minuteMs, clock.now());
    const others = await createAuthority('others', 60 * minuteMs, clock.now());
    const token = continueTokens(continueTokenKey(ours), clock).seal('list', position);
    assert.equal(
      continueTokens(continueTokenKey({ ...ours }), clock).open('list', token).after,
      position.after,
    );
    const foreign = continueTokens(continueTokenKey(others), clock);
    assert.throws(() => foreign.open('list', token), isBadRequest);
    assert.equal(continueTokenKey(ours).length, 32);
    assert.notDeepEqual(continueTokenKey(ours), continueTokenKey(others));
  });
});
