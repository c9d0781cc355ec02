import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createCloseSignal } from '../../../../../src/apiserver/http/routing/request.ts';

const response = () => new ServerResponse(new IncomingMessage(new Socket()));

describe('the signal of a client that goes', () => {
  test('aborts when the response is closed', async () => {
    const raw = response();
    const signal = createCloseSignal(raw);
    assert.ok(!signal.aborted);
    raw.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(signal.aborted);
  });

  test('is aborted from the start when the client has gone before', async () => {
    const raw = response();
    raw.destroy();
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(createCloseSignal(raw).aborted);
  });
});
