import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CheckpointRequest } from '../../../../../src/agent/checkpoint/index.ts';
import { CheckpointError } from '../../../../../src/agent/checkpoint/index.ts';
import { Operations } from '../../../../../src/agent/checkpoint/manage/operations.ts';
import { waitFor } from '../../../../support/index.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { manageLab } from './manage-lab.ts';

const path = '/checkpoint/shop/web/main';
const respondAsync = { headers: { prefer: 'respond-async' } };

/** Ends when it is cancelled, as the checkpointer does. */
function untilCancelled({ cancel, onBegin }: CheckpointRequest): Promise<never> {
  onBegin?.();
  return new Promise((_resolve, reject) => {
    const message = 'checkpointing of shop/web/main failed (the client went away)';
    cancel.addEventListener('abort', () => reject(new CheckpointError('cancelled', message)));
  });
}

describe('a checkpoint that is not waited for', () => {
  test('is 202 with where to look, is watched, and ends with the id of the checkpoint', async () => {
    const gate = Promise.withResolvers<void>();
    const turn = Promise.withResolvers<void>();
    await using at = await manageLab({
      async checkpoint({ onBegin }, make) {
        await turn.promise;
        onBegin?.();
        await gate.promise;
        return await make();
      },
    });
    const begun = await at.ask('POST', path, { headers: { prefer: 'wait=5, Respond-Async' } });
    assert.equal(begun.code, 202);
    assert.equal(begun.headers['preference-applied'], 'respond-async');
    const { id, state, requester } = begun.json;
    assert.deepEqual([state, requester], ['Queued', 'admin']);
    assert.equal(begun.headers['location'], `/checkpoints/operations/${id}`);
    const watched = await at.open(`/checkpoints/operations/${id}?watch=true`);
    turn.resolve();
    await waitFor('it to run', async () => {
      const { json } = await at.ask('GET', `/checkpoints/operations/${id}`);
      return json.state === 'Running';
    });
    gate.resolve();
    const lines = Buffer.concat(await Array.fromAsync(watched.body, (chunk) => Buffer.from(chunk)));
    const states = lines
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      states.map((each) => each.state),
      ['Queued', 'Running', 'Done'],
    );
    const [made] = await at.ids();
    const last = states.at(-1);
    assert.equal(last.checkpoint, made);
    assert.equal(last.path, `${at.path}/${made}.tar`);
    assert.ok(last.createdAt <= last.startedAt && last.startedAt <= last.finishedAt);
  });

  test('fails in the words of the synchronous answer', async () => {
    const message = 'checkpointing of shop/web/main failed (criu failed)';
    await using at = await manageLab({
      checkpoint: () => Promise.reject(new CheckpointError('failed', message)),
    });
    const plain = await at.ask('POST', path);
    const { json } = await at.ask('POST', path, respondAsync);
    const ended = await waitFor('its end', async () => {
      const shown = (await at.ask('GET', `/checkpoints/operations/${json.id}`)).json;
      return shown.state === 'Failed' ? shown : undefined;
    });
    assert.deepEqual([ended.code, ended.message], [plain.code, plain.text]);
  });

  test('goes on when whoever asked is gone, and ends when somebody cancels it', async () => {
    await using at = await manageLab({ checkpoint: untilCancelled });
    const { json } = await at.ask('POST', path, respondAsync);
    const place = `/checkpoints/operations/${json.id}`;
    assert.equal(at.asked[0]?.cancel.aborted, false);
    const told = await at.ask('DELETE', place);
    assert.deepEqual([told.code, told.json.message], [200, 'cancelled by admin']);
    const ended = await waitFor('its end', async () => {
      const shown = (await at.ask('GET', place)).json;
      return shown.finishedAt ? shown : undefined;
    });
    assert.equal(ended.state, 'Cancelled');
    assert.equal(ended.message, 'checkpointing of shop/web/main failed (cancelled by admin)');
    assert.equal((await at.ask('DELETE', place)).json.state, 'Cancelled');
  });

  test('is cancelled when the agent stops, and whoever watches is told', async () => {
    await using at = await manageLab({ checkpoint: untilCancelled });
    const { json } = await at.ask('POST', path, respondAsync);
    const watched = await at.open(`/checkpoints/operations/${json.id}?watch=true`);
    const told = Array.fromAsync(watched.body, (chunk) => String(chunk));
    await at.server.end();
    const last = JSON.parse((await told).join('').trim().split('\n').at(-1) ?? '');
    assert.equal(last.state, 'Failed');
    assert.equal(last.message, 'checkpointing of shop/web/main failed (the agent is being stopped)');
  });

  test('waits where it is not preferred', async () => {
    await using at = await manageLab();
    for (const prefer of ['', 'respond-asynchronously', 'return=minimal'])
      assert.equal((await at.ask('POST', path, { headers: { prefer } })).code, 200);
    assert.equal((await at.ask('POST', `${path}?timeout=x`, respondAsync)).code, 400);
  });

  test('of an agent that has ended is 404, with where to look', async () => {
    await using at = await manageLab();
    const old = await at.ask('GET', '/checkpoints/operations/operation-01234567-9');
    assert.equal(old.code, 404);
    assert.match(old.text, /it is of an agent that has ended, .*GET \/checkpoints lists what was made$/);
    const none = await at.ask('GET', '/checkpoints/operations/x');
    assert.match(none.text, /^there is no operation "x": an operation that has ended is kept for an hour/);
  });
});

describe('operations that have ended', () => {
  const order = {
    target: { namespace: 'shop', pod: 'web', container: 'main' },
    timeoutMs: 0,
    requester: 'alice',
    stopping: new AbortController().signal,
    explain: () => ({ code: 500, message: 'failed' }),
  };

  test('are kept for an hour', async () => {
    const clock = createManualClock();
    const checkpointer = { checkpoint: async () => ({ path: '/a.tar' }) };
    const operations = new Operations({ checkpointer, clock });
    const { id } = operations.begin(order);
    await waitFor('its end', () => operations.get(id).state === 'Done');
    await clock.advance(3600_000);
    assert.equal(operations.get(id).state, 'Done');
    await clock.advance(1);
    assert.throws(() => operations.get(id), { code: 404 });
  });

  test('are bounded in number, and so are those that have not', async () => {
    const clock = createManualClock();
    let open = true;
    const checkpointer = {
      checkpoint: () => (open ? new Promise<never>(() => undefined) : Promise.resolve({ path: '/a.tar' })),
    };
    const operations = new Operations({ checkpointer, clock });
    for (let count = 0; count < 1000; count += 1) operations.begin(order);
    assert.throws(() => operations.begin(order), { name: 'RefusedError', code: 429 });
    open = false;
    const others = new Operations({ checkpointer, clock });
    const first = others.begin(order).id;
    await waitFor('its end', () => others.get(first).state === 'Done');
    for (let count = 0; count < 1001; count += 1) {
      others.begin(order);
      await Promise.resolve();
    }
    await waitFor('the first to be forgotten', () => {
      try {
        return others.get(first) === undefined;
      } catch {
        return true;
      }
    });
  });
});
