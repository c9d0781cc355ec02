import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../../../src/api/index.ts';
import { NodeAnswers } from '../../../../src/apiserver/metrics-api/index.ts';
import { silentLogger } from '../../../../src/base/index.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

const time = '2025-01-02T00:00:00Z';
const body = Buffer.from(
  JSON.stringify({ node: { cpu: { time, usageNanoCores: 1 }, memory: { time, workingSetBytes: 1 } } }),
);

function nodeOf(name: string, status?: string, lastHeartbeatTime = time): Node {
  const conditions = status === undefined ? [] : [{ type: 'Ready', status, lastHeartbeatTime }];
  return { metadata: { name }, status: { conditions } };
}

const many = (count: number, name: string, status?: string) =>
  Array.from({ length: count }, (_, index) => nodeOf(`${name}-${index}`, status));
const sleepMs = 250;

/** The nodes in `away` never answer. */
function fleet(away: (name: string) => boolean) {
  const clock = createManualClock();
  const asked: { readonly name: string; readonly atMs: number }[] = [];
  const startMs = clock.monotonicMs();
  const answers = new NodeAnswers({
    proxy: {
      async read({ node, signal }) {
        const name = node.metadata?.name ?? '';
        asked.push({ name, atMs: clock.monotonicMs() - startMs });
        if (!away(name)) return body;
        return await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
        );
      },
    },
    clock,
    log: silentLogger(),
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += sleepMs) await clock.advance(sleepMs);
  };
  return {
    asked,
    pass,
    /** The names that answered, and how long it took. */
    async ask(nodes: readonly Node[]) {
      const beginMs = clock.monotonicMs();
      let end: { readonly names: readonly string[]; readonly tookMs: number } | undefined;
      void answers.read(nodes, new AbortController().signal).then((found) => {
        end = { names: [...found.keys()].sort(), tookMs: clock.monotonicMs() - beginMs };
      });
      await clock.advanceUntil(() => end !== undefined, 5000);
      assert.ok(end !== undefined);
      return end;
    },
    askedOf: (name: string) => asked.filter((each) => each.name === name).map(({ atMs }) => atMs),
    [Symbol.asyncDispose]: () => answers[Symbol.asyncDispose](),
  };
}

describe('the answers of nodes', () => {
  test('of those that are ready come though many others are away', async () => {
    await using nodes = fleet((name) => name.startsWith('dead'));
    const all = [...many(200, 'dead', 'Unknown'), ...many(2, 'live', 'True')];
    for (let round = 0; round < 5; round += 1) {
      assert.deepEqual((await nodes.ask(all)).names, ['live-0', 'live-1'], `round ${round}`);
      await nodes.pass(12_000);
    }
  });

  test('come though nodes were lost that still seem ready, and from those that say nothing of themselves', async () => {
    await using nodes = fleet((name) => name.startsWith('lost'));
    const all = [...many(60, 'lost', 'True'), ...many(2, 'live')];
    assert.deepEqual((await nodes.ask(all)).names, ['live-0', 'live-1']);
    await nodes.pass(30_000);
    const ready = [...all, nodeOf('new', 'True')];
    assert.deepEqual((await nodes.ask(ready)).names, ['live-0', 'live-1', 'new']);
  });

  test('are asked for half as often each time that none comes, up to five minutes', async () => {
    await using nodes = fleet(() => true);
    for (let round = 0; round < 700; round += 1) {
      await nodes.ask([nodeOf('dead', 'Unknown')]);
      await nodes.pass(2000);
    }
    const gaps = nodes.askedOf('dead').map((atMs, index, times) => atMs - (times[index - 1] ?? 0));
    const expected = [0, 8, 13, 23, 43, 83, 163, 303, 303];
    assert.ok(gaps.length >= expected.length);
    for (const [index, seconds] of expected.entries()) {
      const late = (gaps[index] ?? 0) / 1000 - seconds;
      assert.ok(late >= 0 && late <= 5, `gap ${index}: ${gaps[index]} ms`);
    }
  });

  test('are asked for at once when the agent reports to its Node again, and often when it has answered', async () => {
    let isAway = true;
    await using nodes = fleet(() => isAway);
    const silent = nodeOf('node', 'Unknown');
    for (let round = 0; round < 60; round += 1) {
      await nodes.ask([silent]);
      await nodes.pass(2000);
    }
    const before = nodes.askedOf('node').length;
    isAway = false;
    assert.deepEqual((await nodes.ask([silent])).names, []);
    assert.equal(nodes.askedOf('node').length, before, 'it is still left alone');
    const back = nodeOf('node', 'True', '2025-01-02T00:10:00Z');
    assert.deepEqual(await nodes.ask([back]), { names: ['node'], tookMs: 0 });
    isAway = true;
    await nodes.pass(11_000);
    assert.deepEqual((await nodes.ask([back])).names, []);
    isAway = false;
    await nodes.pass(6000);
    assert.deepEqual((await nodes.ask([back])).names, ['node'], 'after the first wait again');
  });

  test('take three seconds of one question at most', async () => {
    await using nodes = fleet((name) => name.startsWith('dead'));
    assert.equal((await nodes.ask(many(9, 'dead', 'Unknown'))).tookMs, 3000);
    await nodes.pass(500);
    assert.deepEqual(nodes.askedOf('dead-8'), [3000], 'the slot of another is free then');
  });
});
