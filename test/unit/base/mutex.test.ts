import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { KeyedMutex, Mutex } from '../../../src/base/index.ts';

test('Mutex: one at a time', async () => {
  const mutex = new Mutex();
  const order: string[] = [];
  const work = async (name: string) => {
    order.push(`${name} in`);
    await setImmediate();
    order.push(`${name} out`);
  };
  await Promise.all([mutex.run(() => work('a')), mutex.run(() => work('b'))]);
  assert.deepEqual(order, ['a in', 'a out', 'b in', 'b out']);
});

describe('KeyedMutex', () => {
  test('keys do not wait for each other', async () => {
    const mutex = new KeyedMutex();
    using _a = await mutex.acquire('a');
    using _b = await mutex.acquire('b');
    const cancel = new AbortController();
    const again = mutex.acquire('a', cancel.signal);
    cancel.abort(new Error('enough'));
    await assert.rejects(again, { message: 'enough' });
  });

  test('those who want the same key go in one after another, in their order', async () => {
    const mutex = new KeyedMutex();
    const seen: string[] = [];
    const work = async (name: string, key: string) => {
      using _lock = await mutex.acquire(key);
      seen.push(`${name} in`);
      await setImmediate();
      seen.push(`${name} out`);
    };
    await Promise.all([work('a', 'x'), work('b', 'x'), work('other', 'y'), work('c', 'x')]);
    assert.deepEqual(
      seen.filter((step) => !step.startsWith('other')),
      ['a in', 'a out', 'b in', 'b out', 'c in', 'c out'],
    );
    assert.ok(seen.indexOf('other in') < seen.indexOf('a out'));
  });

  test('who fails leaves like any other', async () => {
    const mutex = new KeyedMutex();
    const failing = async () => {
      using _lock = await mutex.acquire('x');
      await setImmediate();
      throw new Error('no');
    };
    const failingWork = mutex.run('y', async () => {
      await setImmediate();
      throw new Error('no');
    });
    const [failed, entered, failedWork, work] = await Promise.allSettled([
      failing(),
      mutex.acquire('x'),
      failingWork,
      mutex.run('y', async () => 'done'),
    ]);
    assert.equal(failed.status, 'rejected');
    assert.equal(entered.status, 'fulfilled');
    assert.equal(failedWork.status, 'rejected');
    assert.deepEqual(work, { status: 'fulfilled', value: 'done' });
  });

  test('is locked while somebody holds the key', async () => {
    const mutex = new KeyedMutex();
    const lock = await mutex.acquire('x');
    const work = mutex.run('x', async () => mutex.isLocked('x'));
    assert.equal(mutex.isLocked('x'), true);
    assert.equal(mutex.isLocked('y'), false);
    lock[Symbol.dispose]();
    assert.equal(await work, true);
    assert.equal(mutex.isLocked('x'), false);
  });

  test('is settled when all who held or waited are done', async () => {
    const mutex = new KeyedMutex();
    const done: string[] = [];
    const work = async (name: string) => {
      await setImmediate();
      done.push(name);
    };
    void mutex.run('x', () => work('a'));
    void mutex.run('x', () => work('b'));
    void mutex.run('y', () => work('c'));
    await mutex.settled();
    assert.deepEqual(done.sort(), ['a', 'b', 'c']);
    assert.equal(mutex.isLocked('x'), false);
    await mutex.settled();
  });
});
