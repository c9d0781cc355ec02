/**
 * The disk of a store after a power cut. One run is recorded, call by call; then the folder is built as a disk would
 * hold it that lost its power after this or that call, and opened: what was answered must be there, and nothing else.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { openSqlite } from '../../src/apiserver/storage/index.ts';
import { repetitions, seededRandom } from '../support/repetition.ts';
import type { Recorded } from './storage/recorded-calls.ts';
import { cutMany, recordCalls } from './storage/recorded-calls.ts';
import { contentOf, keyOf, stepsOf, writers } from './storage/recorded-steps.ts';

const files = ['store.sqlite', 'store.sqlite-wal', 'store.sqlite-journal', 'store.reserve'];
/** Of each kind; 120 for a long run. */
const cuts = repetitions('NODEWARD_TEST_CUTS', 40);

/** The last step of each writer that was answered, and the highest revision told. */
class Answered {
  readonly steps = new Array<number>(writers).fill(0);
  revision = 0;

  note(lines: string): void {
    for (const line of lines.trim().split('\n')) {
      const [writer = 0, step = 0, revision = 0] = line.split(' ').map(Number);
      this.steps[writer] = step;
      this.revision = Math.max(this.revision, revision);
    }
  }
}

describe('a power cut', () => {
  let recorded: Recorded = { before: new Map(), calls: [] };

  before(
    async () => {
      recorded = await recordCalls('recorded-writer.ts', files);
    },
    { timeout: 180_000 },
  );

  test('the record is worth it: it holds commits, several checkpoints, a shrunk file, and two openings', () => {
    const count = (what: string, name: string) =>
      recorded.calls.filter((call) => call.what === what && call.name === name).length;
    assert.ok(count('sync', 'store.sqlite-wal') > 50, 'commits');
    assert.ok(count('sync', 'store.sqlite') > 5, 'checkpoints');
    assert.ok(count('truncate', 'store.sqlite') >= 1, 'room that was given back');
    assert.ok(count('unlink', 'store.sqlite-wal') >= 2, 'closed in between');
    assert.ok(count('write', 'answers') === writers * 70, 'every step was answered');
  });

  for (const leaves of ['nothing', 'everything', 'anything'] as const) {
    test(`that leaves ${leaves} of what was not synced, after any call`, { timeout: 300_000 }, async (t) => {
      const answered = new Answered();
      await cutMany(recorded, {
        count: cuts,
        leaves,
        random: seededRandom(t),
        answered: (lines) => answered.note(lines),
        check: (folder, when) => checkStore(folder, answered, when),
      });
    });
  }
});

async function checkStore(folder: string, answered: Answered, when: string): Promise<void> {
  await using store = await openSqlite({ folder, identity: { groupSuffix: 'k8s.io' }, reserveBytes: 0 });
  const revision = await store.revision();
  assert.ok(revision >= answered.revision, `${when}: revision ${revision} after ${answered.revision}`);
  const page = await store.listAt('', revision, '', 0);
  assert.ok(typeof page !== 'string');
  const found = new Map(page.items.map((item) => [item.key, item.value]));
  for (const [writer, step] of answered.steps.entries()) {
    const value = found.get(keyOf(writer));
    const isOneOf = [step, step + 1].some((each) => isAfter(writer, each, value));
    assert.ok(isOneOf, `${when}: writer ${writer} has neither step ${step} nor the next`);
    found.delete(keyOf(writer));
  }
  assert.deepEqual([...found.keys()], [], `${when}: nothing is invented`);
  assert.deepEqual((await store.run('check')).problems, [], when);
  const next = await store.commit({ key: '/registry/after/the/cut', expect: 0, value: new Uint8Array(1) });
  assert.ok(next.ok && next.revision > revision, when);
}

/** Whether this is what a writer's key holds after a step. */
function isAfter(writer: number, step: number, value: Uint8Array | undefined): boolean {
  if (step === 0 || stepsOf(step) === 'delete') return value === undefined;
  return value !== undefined && Buffer.compare(value, contentOf(writer, step)) === 0;
}
