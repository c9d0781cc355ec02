import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StartGate } from '../../../../../src/agent/pods/worker/start-gate.ts';

const never = new AbortController().signal;
const one = { priority: 0, hasBegun: false };
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a bounded number of pods start at a time', () => {
  test('the most important first, among equals those that have begun, and then who came first', async () => {
    const gate = new StartGate(() => 1);
    const order: string[] = [];
    const enter = async (name: string, priority: number, hasBegun = false) => {
      const turn = await gate.enter({ priority, hasBegun }, never);
      order.push(name);
      return turn;
    };
    const first = await enter('first', 0);
    const later = [enter('low', 0), enter('low too', 0), enter('high', 10), enter('higher', 20)];
    later.push(enter('begun', 0, true), enter('begun too', 0, true));
    await settled();
    assert.deepEqual(order, ['first']);
    first[Symbol.dispose]();
    for (const turn of [3, 2, 4, 5, 0, 1]) (await later[turn])?.[Symbol.dispose]();
    assert.deepEqual(order, ['first', 'higher', 'high', 'begun', 'begun too', 'low', 'low too']);
  });

  test('who gives up takes no turn, and a turn is given back once', async () => {
    const gate = new StartGate(() => 1);
    const first = await gate.enter(one, never);
    const end = new AbortController();
    const waiting = gate.enter(one, end.signal);
    end.abort(new Error('the pod ends'));
    await assert.rejects(waiting, /the pod ends/);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    using _second = await gate.enter(one, never);
    const third = gate.enter(one, AbortSignal.abort(new Error('no')));
    await assert.rejects(third, /no/);
    let isIn = false;
    const fourth = gate.enter(one, never).then((turn) => {
      isIn = true;
      return turn;
    });
    await settled();
    assert.equal(isIn, false);
    _second[Symbol.dispose]();
    (await fourth)[Symbol.dispose]();
  });
});
