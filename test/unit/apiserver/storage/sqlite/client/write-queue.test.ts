import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { WriteQueue } from '../../../../../../src/apiserver/storage/sqlite/client/write-queue.ts';
import type { ToWriter } from '../../../../../../src/apiserver/storage/sqlite/messages.ts';

function queueWithLog(): { queue: WriteQueue; sent: string[][] } {
  const sent: string[][] = [];
  const queue = new WriteQueue((message: ToWriter) => {
    assert.ok(message.type === 'write');
    sent.push(message.keys.map((key, index) => `${key}@${message.expects[index]}`));
  });
  return { queue, sent };
}

const value = new Uint8Array(10);
const done = { ok: true, revision: 9, now: null } as const;

describe('the queue of writes', () => {
  test('sends what comes within a turn in one message', async () => {
    const { queue, sent } = queueWithLog();
    for (const key of ['a', 'b', 'c']) void queue.submit({ key, expect: 0, value });
    assert.deepEqual(sent, []);
    await turn();
    assert.deepEqual(sent, [['a@0', 'b@0', 'c@0']]);
  });

  test('sends a second write of a key only after the first was answered', async () => {
    const { queue, sent } = queueWithLog();
    const first = queue.submit({ key: 'a', expect: 0, value });
    void queue.submit({ key: 'a', expect: 1, value });
    void queue.submit({ key: 'b', expect: 0, value });
    await turn();
    await turn();
    assert.deepEqual(sent, [['a@0', 'b@0']]);
    for (const pending of queue.takeSent(1)) queue.settle(pending, done);
    assert.equal(await first, done);
    await turn();
    assert.deepEqual(sent, [['a@0', 'b@0'], ['a@1']]);
  });

  test('says that it is overloaded instead of growing without end', async () => {
    const { queue } = queueWithLog();
    const large = new Uint8Array(1024 * 1024);
    for (let n = 0; n < 64; n++) void queue.submit({ key: `k${n}`, expect: 0, value: large });
    const refused = await queue.submit({ key: 'more', expect: 0, value });
    assert.ok(!refused.ok && refused.code === 'unavailable');
    assert.match(refused.cause.message, /overloaded/);
    await turn();
    for (const pending of queue.takeSent(1)) queue.settle(pending, done);
    void queue.submit({ key: 'more', expect: 0, value });
    assert.equal(queue.size, 64, 'it takes writes again');
  });

  test('tells the truth about what was sent and what was not', async () => {
    const { queue } = queueWithLog();
    const outcomes = [
      queue.submit({ key: 'a', expect: 0, value }),
      queue.submit({ key: 'a', expect: 0, value }),
    ];
    await turn();
    outcomes.push(queue.submit({ key: 'b', expect: 0, value }));
    queue.failAll('unknown', new Error('of the test'));
    const codes = (await Promise.all(outcomes)).map((outcome) => (outcome.ok ? 'ok' : outcome.code));
    assert.deepEqual(codes, ['unknown', 'unavailable', 'unavailable']);
    assert.equal(queue.size, 0);
    await turn();
  });
});
