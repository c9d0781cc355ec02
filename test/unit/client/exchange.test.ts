import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Dispatcher } from 'undici';
import { exchange } from '../../../src/client/exchange.ts';

/** Keeps the one request that it is sent, as while all connections are in use, until the test answers it. */
function dispatcher() {
  let handler: Dispatcher.DispatchHandler = {};
  const aborted: Error[] = [];
  const controller: Dispatcher.DispatchController = {
    get aborted() {
      return aborted.length > 0;
    },
    paused: false,
    reason: null,
    abort: (reason) => aborted.push(reason),
    pause: () => undefined,
    resume: () => undefined,
  };
  return {
    aborted,
    dispatch(_options: Dispatcher.DispatchOptions, given: Dispatcher.DispatchHandler) {
      handler = given;
      return true;
    },
    begin: () => handler.onRequestStart?.(controller, {}),
    head: (code: number, headers = {}) => handler.onResponseStart?.(controller, code, headers),
    data: (text: string) => handler.onResponseData?.(controller, Buffer.from(text)),
    end: () => handler.onResponseEnd?.(controller, {}),
    fail: (error: Error) => handler.onResponseError?.(controller, error),
  };
}

const request = { method: 'GET', path: '/' } as const;
const limits = { signal: new AbortController().signal, maxBytes: () => 10 };

describe('a response that is read as a whole', () => {
  test('is the final one, with all of its body', async () => {
    const server = dispatcher();
    const answer = exchange(server, request, limits);
    server.begin();
    server.head(103, { link: 'early' });
    server.head(200, { 'retry-after': '1' });
    server.data('0123');
    server.data('456789');
    server.end();
    const whole = {
      statusCode: 200,
      headers: { 'retry-after': '1' },
      text: '0123456789',
      isTruncated: false,
    };
    assert.deepEqual(await answer, whole);
    assert.deepEqual(server.aborted, []);
  });

  test('is cut, and its connection closed, where it is too long', async () => {
    const server = dispatcher();
    const answer = exchange(server, request, { ...limits, maxBytes: (code) => (code === 500 ? 3 : 10) });
    server.begin();
    server.head(500);
    server.data('0123');
    server.data('4');
    const { text, isTruncated } = await answer;
    assert.deepEqual([text, isTruncated], ['012', true]);
    assert.equal(server.aborted.length, 1);
  });

  test('that fails is the error of the library', async () => {
    const server = dispatcher();
    const answer = exchange(server, request, limits);
    server.begin();
    server.head(200);
    const error = new Error('other side closed');
    server.fail(error);
    await assert.rejects(answer, error);
  });

  test('is given up when the signal aborts: at once, in its middle, or before it has a connection', async () => {
    const reason = new Error('enough');
    const never = dispatcher();
    await assert.rejects(exchange(never, request, { ...limits, signal: AbortSignal.abort(reason) }), reason);
    for (const hasBegun of [true, false]) {
      const [server, caller] = [dispatcher(), new AbortController()];
      const answer = exchange(server, request, { ...limits, signal: caller.signal });
      if (hasBegun) server.begin();
      caller.abort(reason);
      await assert.rejects(answer, reason);
      if (!hasBegun) server.begin();
      assert.deepEqual(server.aborted, [reason], 'the request ends, too');
    }
  });
});
