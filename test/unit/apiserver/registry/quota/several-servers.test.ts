/** Quotas hold while several servers write to one store, fail, and count anew at any time. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { withSeed } from '../../../../support/repetition.ts';
import { startServers } from './servers.ts';

test('of 50 writers at once, on three servers that also count, exactly as many succeed as there is room', () =>
  withSeed(async (random) => {
    const world = await startServers(3, random, { a: 20, b: 13 });
    let isOver = false;
    const counting = world.servers.map(async ({ recount }) => {
      while (!isOver) {
        await recount();
        await turn();
      }
    });
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) => world.servers[index % 3]?.create(`s${index}`)),
    );
    isOver = true;
    await Promise.all(counting);
    assert.equal(answers.filter((answer) => answer === 'done').length, 13);
    assert.equal(world.most(), 13);
    for (let seconds = 0; world.isNoted(); seconds++) {
      assert.ok(seconds < 50, 'notes stay');
      await world.clock.advance(1000);
      await turn();
    }
    assert.deepEqual(world.used(), [13, 13]);
  }));

test('random writes never exceed a quota, and at rest what is used is what is there', () =>
  withSeed(async (random) => {
    for (let round = 0; round < 4; round++) {
      const world = await startServers(3, random, { a: 5, b: 7 });
      const act = async () => {
        for (let step = 0; step < 25; step++) {
          const server = world.servers[Math.floor(random() * 3)];
          assert.ok(server);
          const name = `s${Math.floor(random() * 12)}`;
          const chance = random();
          if (chance < 0.5) await server.create(name);
          else if (chance < 0.9) await server.remove(name);
          else await server.recount();
          assert.ok(world.most() <= 5, `there were ${world.most()}`);
        }
      };
      await Promise.all(Array.from({ length: 8 }, act));
      const isRight = () => world.used().every((used) => used === world.stored()) && !world.isNoted();
      for (let seconds = 0; !isRight(); seconds++) {
        assert.ok(seconds < 50, `${world.used()} are used and ${world.stored()} stored`); // before anything is forgotten
        await world.clock.advance(1000);
        await world.servers[0]?.recount();
        await turn();
      }
    }
  }));

test('what a server was charged that failed before it wrote is given back after a minute', () =>
  withSeed(async (random) => {
    const world = await startServers(2, random, { a: 1 });
    const [failing, other] = world.servers;
    assert.ok(failing && other);
    failing.store.isFailing = true;
    void failing.create('lost');
    while (world.used()[0] !== 1) await turn();
    assert.equal(await other.create('next'), 'refused', 'it may still be written');
    await world.clock.advance(59_000);
    assert.equal(await other.create('next'), 'refused');
    await world.clock.advance(2000);
    assert.equal(await other.create('next'), 'done');
    assert.equal(world.stored(), 1);
    assert.deepEqual(world.used(), [1]);
  }));

test('a write of which nobody knows whether it was done counts as soon as it is there', () =>
  withSeed(async (random) => {
    const world = await startServers(2, random, { a: 2 });
    const [unsure, other] = world.servers;
    assert.ok(unsure && other);
    unsure.store.isUnsure = true;
    assert.equal(await unsure.create('maybe'), 'unsure');
    assert.equal(await other.create('one'), 'done');
    for (; world.isNoted(); await turn()) {
      await other.recount();
      await world.clock.advance(1000);
    }
    assert.deepEqual(world.used(), [2]);
    assert.equal(await other.create('two'), 'refused');
    assert.equal(await other.remove('maybe'), 'done');
    assert.equal(await other.create('two'), 'done');
    assert.equal(world.most(), 2);
  }));
