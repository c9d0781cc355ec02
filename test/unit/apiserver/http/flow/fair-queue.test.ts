import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { FairQueue } from '../../../../../src/apiserver/http/flow/fair-queue.ts';

interface One {
  user: string;
  number: number;
}

function drained(line: FairQueue<One>): string[] {
  const order: string[] = [];
  for (let one = line.next(); one !== undefined; one = line.next()) order.push(`${one.user}${one.number}`);
  return order;
}

function lineOf(...names: string[]): { line: FairQueue<One>; all: One[] } {
  const line = new FairQueue<One>();
  const all = names.map((user, number) => ({ user, number }));
  for (const one of all) line.add(one);
  return { line, all };
}

describe('a fair line', () => {
  test('serves users in turn, and each in the order of coming', () => {
    const { line } = lineOf('a', 'a', 'a', 'b', 'c', 'b');
    assert.equal(line.size, 6);
    assert.equal(line.sizeOf('a'), 3);
    assert.deepEqual(drained(line), ['a0', 'b3', 'c4', 'a1', 'b5', 'a2']);
    assert.equal(line.size, 0);
  });

  test('a newcomer does not wait behind all that another has sent', () => {
    const { line } = lineOf('a', 'a', 'a', 'a');
    assert.equal(line.next()?.number, 0);
    line.add({ user: 'b', number: 9 });
    assert.deepEqual(drained(line), ['b9', 'a1', 'a2', 'a3']);
  });

  test('nobody waits for ever: not for one who comes back at once, and not for others who come again and again', () => {
    for (const comesNext of [() => 'b', (round: number) => `new-${round}`]) {
      const { line } = lineOf('a', 'a', 'a', 'b');
      const served: string[] = [];
      for (let round = 0; round < 8; round += 1) {
        served.push(line.next()?.user ?? '');
        line.add({ user: comesNext(round), number: 10 + round });
      }
      assert.equal(served.filter((user) => user === 'a').length, 3, served.join());
    }
  });

  test('who was taken out is passed over', () => {
    const { line, all } = lineOf('a', 'b', 'a');
    for (const one of all.slice(0, 2)) line.remove(one);
    assert.deepEqual(drained(line), ['a2']);
    line.add({ user: 'b', number: 5 });
    assert.deepEqual(drained(line), ['b5']);
  });

  test('whatever comes and goes: nobody is lost or served twice, and between two turns of one all others have theirs', () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }),
      fc.constant({ next: true }),
      fc.record({ remove: fc.nat(50) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const line = new FairQueue<One>();
        const waiting: One[] = [];
        /** Who has waited since the last turn of a user. */
        const sinceTurnOf = new Map<string, Set<string>>();
        let number = 0;
        const take = (one: One) => waiting.splice(waiting.indexOf(one), 1);
        for (const each of steps) {
          if ('add' in each) {
            const one = { user: each.add, number: number++ };
            line.add(one);
            waiting.push(one);
          } else if ('remove' in each) {
            const one = waiting[each.remove];
            if (one === undefined) continue;
            line.remove(one);
            take(one);
            for (const others of sinceTurnOf.values()) others.delete(one.user);
          } else {
            const one = line.next();
            assert.equal(one === undefined, waiting.length === 0);
            if (one === undefined) continue;
            assert.equal(
              one,
              waiting.find(({ user }) => user === one.user),
              'of each the first',
            );
            take(one);
            assert.deepEqual(
              [...(sinceTurnOf.get(one.user) ?? [])],
              [],
              `${one.user} is served before others`,
            );
            for (const others of sinceTurnOf.values()) others.delete(one.user);
            const others = waiting.map(({ user }) => user).filter((user) => user !== one.user);
            sinceTurnOf.set(one.user, new Set(others));
          }
          assert.equal(line.size, waiting.length);
          assert.deepEqual([...line.byAge()], waiting);
        }
      }),
    );
  });
});
