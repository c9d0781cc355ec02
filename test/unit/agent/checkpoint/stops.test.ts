import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RuntimeError } from '../../../../src/agent/runtime/index.ts';
import { waitFor } from '../../../support/index.ts';
import { failedBecause, lab } from './checkpoint-lab.ts';
import { endless } from './stand-in-runtime.ts';

type Lab = Awaited<ReturnType<typeof lab>>;

const signal = new AbortController().signal;
const stop = ({ checkpointer }: Lab, graceSeconds: number, containerId = 'c1') =>
  checkpointer.beforeStop({ containerId, graceSeconds }, signal);
const beingStopped = failedBecause('notRunning', /it is being stopped/);
const ended = failedBecause('notRunning', /it ended during its checkpoint/);

describe('a container that is stopped', () => {
  test('is left to its checkpoint until that is written', async () => {
    await using at = await lab();
    const letGo = Promise.withResolvers<void>();
    const { write } = at.runtime;
    at.runtime.write = async (...given) => {
      await letGo.promise;
      await write(...given);
    };
    const asked = at.ask();
    await waitFor('the dump to begin', () => at.runtime.files.length === 1);
    const stopping = stop(at, 30);
    letGo.resolve();
    using _stop = await stopping;
    assert.match((await asked).path, /\.tar$/);
  });

  test('at once has its checkpoint given up, which says why and leaves nothing', async () => {
    await using at = await lab();
    at.runtime.write = endless();
    const outcome = assert.rejects(at.ask(), beingStopped);
    await waitFor('the dump to begin', () => at.runtime.files.length === 1);
    using _stop = await stop(at, 0);
    await outcome;
    assert.deepEqual(await at.left(), []);
  });

  test('gets no checkpoint meanwhile', async () => {
    await using at = await lab();
    {
      using _stop = await stop(at, 30);
      await assert.rejects(at.ask(), beingStopped);
      await assert.rejects(at.askPod(), beingStopped);
      assert.deepEqual([at.runtime.files, at.runtime.held, await at.left()], [[], [], []]);
    }
    await at.ask();
  });

  test('lets the whole pod go, whose checkpoint says which one it was', async () => {
    await using at = await lab();
    const side = { name: 'side', id: 'c2', sandboxId: 's1', podUid: 'u1', state: 'running' } as const;
    const { members } = at.runtime;
    at.runtime.members = [...(members === 'noPod' ? [] : members), side];
    at.runtime.write = endless();
    const outcome = assert.rejects(at.askPod(), {
      reason: 'notRunning',
      message: 'checkpointing of shop/web/side failed (it is being stopped)',
    });
    await waitFor('the dump to begin', () => at.runtime.files.length === 1);
    using _stop = await stop(at, 0, 'c2');
    await outcome;
    assert.deepEqual(at.runtime.held.slice(-2), ['release c2', 'release c1']);
    assert.deepEqual(await at.left(), []);
  });
});

test('who probes a container knows of its checkpoint before it is frozen, and until it runs again', async () => {
  await using at = await lab();
  const { checkpointer, runtime } = at;
  const isUnderWay = () => checkpointer.isUnderWay('c1');
  const letGo = Promise.withResolvers<void>();
  const { write } = runtime;
  runtime.write = async (...given) => {
    await letGo.promise;
    await write(...given);
  };
  const begun: (string | boolean)[] = [];
  using _begins = checkpointer.onBegin((id) => void begun.push(id, isUnderWay(), runtime.files.length === 0));
  const asked = at.ask();
  await waitFor('the dump to begin', () => runtime.files.length === 1);
  assert.deepEqual([begun, isUnderWay()], [['c1', true, true], true]);
  letGo.resolve();
  await asked;
  assert.equal(isUnderWay(), false);
  const set = at.askPod();
  await waitFor('the second to begin', () => begun.length === 6);
  await set;
  assert.equal(isUnderWay(), false);
});

describe('a container that ends during its checkpoint', () => {
  const failing = (at: Lab, found: Lab['runtime']['found']) => {
    at.runtime.write = async () => {
      at.runtime.found = found;
      throw new RuntimeError('failed', 'criu failed: type NOTIFY errno 3');
    };
  };

  test('is said to have ended, whatever the runtime says', async () => {
    const next = { id: 'c2', sandboxId: 's1', podUid: 'u1', state: 'running' } as const;
    for (const found of ['noPod', 'noContainer', { ...next, id: 'c1', state: 'exited' }, next] as const) {
      await using at = await lab();
      failing(at, found);
      await assert.rejects(at.ask(), ended);
      await using whole = await lab();
      failing(whole, found);
      await assert.rejects(whole.askPod(), ended);
      assert.deepEqual(await at.left(), []);
    }
  });

  test('is said to have ended when the runtime does not know it any more', async () => {
    await using at = await lab();
    at.runtime.write = async () => {
      at.runtime.found = 'noContainer';
      throw new RuntimeError('notFound', 'no such container');
    };
    await assert.rejects(at.ask(), ended);
  });

  test('is not said to have ended while it runs, or when the runtime does not answer', async () => {
    await using at = await lab();
    failing(at, at.runtime.found);
    await assert.rejects(at.ask(), failedBecause('failed', /criu failed: .*/));
    const { find } = at.runtime;
    let asked = 0;
    at.runtime.find = async (...given) => {
      asked += 1;
      if (asked > 1) throw new RuntimeError('unavailable', 'gone');
      return await find(...given);
    };
    await assert.rejects(at.ask(), failedBecause('failed', /criu failed: .*/));
  });
});
