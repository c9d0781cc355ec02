/** Several containers held still: whatever fails in between, none stays frozen because of it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { status } from '@grpc/grpc-js';
import fc from 'fast-check';
import { RuntimeService } from '../../../../src/agent/runtime/gen/cri_pb.js';
import { Status } from '../../../../src/agent/runtime/gen/task_pb.js';
import { Tasks } from '../../../../src/agent/runtime/gen/tasks_pb.js';
import { connectRuntime, RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { refusal, startFakeRuntime } from './fake-runtime.ts';

const { checkpointContainer } = RuntimeService.method;
const going = new AbortController().signal;

/** A runtime with the containers a, b and c, which does what containerd does; `calls` are in the order of their coming. */
async function lab() {
  await using setup = new AsyncDisposableStack();
  const { path } = setup.use(await temporaryFolder());
  const fake = setup.use(await startFakeRuntime(join(path, 's')));
  const options = { settleMs: 20, thawTimeoutMs: 400, endpoint: fake.endpoint, root: path };
  const runtime = setup.use(connectRuntime({ log: silentLogger(), ...options }));
  const tasks = new Map(['a', 'b', 'c'].map((id) => [id, Status.RUNNING]));
  const calls: string[] = [];
  /** By `pause a`, `dump a` or `resume a`: refused that often. */
  const refused = new Map<string, number>();
  function came(call: string): void {
    calls.push(call);
    const left = refused.get(call) ?? 0;
    refused.set(call, left - 1);
    if (left > 0) throw refusal(status.UNKNOWN, `cannot ${call}`);
  }
  function change(id: string, from: Status, to: Status): Record<never, never> {
    if (tasks.get(id) !== from) throw refusal(status.FAILED_PRECONDITION, `${id} is not so`);
    tasks.set(id, to);
    return {};
  }
  fake.on(Tasks.method.get, ({ containerId }) => {
    const state = tasks.get(containerId);
    if (state === undefined) throw refusal(status.NOT_FOUND, `no task ${containerId}`);
    return { process: { status: state } };
  });
  fake.on(Tasks.method.pause, ({ containerId }) => {
    came(`pause ${containerId}`);
    return change(containerId, Status.RUNNING, Status.PAUSED);
  });
  fake.on(Tasks.method.resume, ({ containerId }) => {
    came(`resume ${containerId}`);
    return change(containerId, Status.PAUSED, Status.RUNNING);
  });
  fake.on(checkpointContainer, ({ containerId }) => {
    came(`dump ${containerId}`);
    assert.equal(tasks.get(containerId), Status.PAUSED); // or it would pause and resume by itself
    return {};
  });
  const resources = setup.move();
  return { runtime, fake, tasks, calls, refused, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

const dumpAll = async ({ runtime }: Awaited<ReturnType<typeof lab>>) => {
  const hold = runtime.hold();
  try {
    for (const id of ['a', 'b', 'c']) await hold.freeze(id, going);
    for (const id of ['a', 'b', 'c']) await hold.checkpoint(id, `/x/${id}`, going);
    return { hold, failure: undefined };
  } catch (failure) {
    return { hold, failure };
  }
};

describe('containers that are held', () => {
  test('are frozen in order, dumped while all stand still, and released in the reverse order', async () => {
    await using at = await lab();
    const { hold, failure } = await dumpAll(at);
    assert.equal(failure, undefined);
    assert.ok([...at.tasks.values()].every((state) => state === Status.PAUSED));
    const released = await hold.release();
    assert.deepEqual(
      [...released.values()].map(({ thawed }) => thawed),
      ['running', 'running', 'running'],
    );
    assert.deepEqual(at.calls, [
      ...['pause a', 'pause b', 'pause c', 'dump a', 'dump b', 'dump c'],
      ...['resume c', 'resume b', 'resume a'],
    ]);
  });

  test('one that somebody else has paused is not touched', async () => {
    await using at = await lab();
    at.tasks.set('b', Status.PAUSED);
    const { hold, failure } = await dumpAll(at);
    assert.match(String(failure), /container b is not running, its task is paused; resume it first/);
    await hold.release();
    assert.deepEqual([...at.tasks.values()], [Status.RUNNING, Status.PAUSED, Status.RUNNING]);
  });

  test('one that somebody thaws in between is no part of one moment', async () => {
    await using at = await lab();
    const hold = at.runtime.hold();
    await hold.freeze('a', going);
    at.tasks.set('a', Status.RUNNING);
    await assert.rejects(hold.checkpoint('a', '/x/a', going), {
      message: /did not stand still, its task is running/,
    });
    await hold.release();
    assert.deepEqual(
      at.calls.filter((call) => call.startsWith('dump')),
      [],
    );
  });

  test('one that cannot be released is told, the others are released', async () => {
    await using at = await lab();
    at.refused.set('resume b', 1000);
    const { hold } = await dumpAll(at);
    const released = await hold.release();
    const left = released.get('b')?.thawed;
    assert.ok(left instanceof RuntimeError && left.reason === 'stillFrozen', String(left));
    assert.deepEqual([...at.tasks.values()], [Status.RUNNING, Status.PAUSED, Status.RUNNING]);
  });

  test('a runtime that cannot freeze is told apart', async () => {
    await using at = await lab();
    at.fake.off(Tasks.method.pause);
    await assert.rejects(at.runtime.hold().freeze('a', going), { reason: 'unimplemented' });
  });

  test('whatever is refused: none stays frozen, and all that was done is of frozen ones', async () => {
    const calls = ['pause', 'dump', 'resume'].flatMap((what) => ['a', 'b', 'c'].map((id) => `${what} ${id}`));
    await fc.assert(
      fc.asyncProperty(fc.subarray(calls), async (some) => {
        await using at = await lab();
        for (const call of some) at.refused.set(call, 1);
        const { hold, failure } = await dumpAll(at);
        assert.equal(
          failure !== undefined,
          some.some((call) => !call.startsWith('resume')),
        );
        const released = await hold.release();
        for (const [id, { thawed }] of released)
          assert.ok(!(thawed instanceof RuntimeError), `${id}: ${String(thawed)}`);
        assert.ok([...at.tasks.values()].every((state) => state === Status.RUNNING));
      }),
      { numRuns: 15 },
    );
  });
});
