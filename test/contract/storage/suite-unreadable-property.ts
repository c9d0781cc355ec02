import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Store } from '../../../src/apiserver/storage/index.ts';
import { everything, RecordingSink, TextEncoding } from './recording-sink.ts';
import type { OpenStore } from './scenario.ts';
import { bytes, eventually, lease } from './scenario.ts';
import { openShared } from './suite-unreadable.ts';

const names = ['a', 'b', 'c'];

/** What another program writes: `?` cannot be read, null deletes. */
const step = fc.record({
  key: fc.constantFrom(...names.map(lease)),
  value: fc.option(fc.constantFrom('1', '2', '?', '??'), { freq: 4 }),
});

/** What a client knows of each object that keeps its last readable state while it exists. */
class Model {
  readonly known = new Map<string, string>();

  take(key: string, value: string | null): void {
    if (value === null) this.known.delete(key);
    else if (!value.startsWith('?')) this.known.set(key, value);
  }
}

/** The state that a client has after these events. Fails for an event that does not fit the one before it. */
function replay(events: readonly string[], start: ReadonlyMap<string, string>): Map<string, string> {
  const state = new Map(start);
  for (const event of events) {
    const [type, key = '', text = ''] = event.split(' ');
    assert.equal(state.has(key), type !== 'ADDED', event);
    if (type === 'DELETED') state.delete(key);
    else state.set(key, text.split('@')[0] ?? '');
  }
  return state;
}

async function write(store: Store, revisions: Map<string, number>, key: string, value: string | null) {
  const expect = revisions.get(key) ?? 0;
  if (expect === 0 && value === null) return undefined;
  const outcome = await store.commit({ key, expect, value: value === null ? null : bytes(value) });
  assert.ok(outcome.ok);
  if (value === null) revisions.delete(key);
  else revisions.set(key, outcome.revision);
  return outcome.revision;
}

export function unreadablePropertySuite(open: OpenStore): void {
  describe('whatever another program writes', () => {
    test('watches and followers have the last readable state of what exists, and of nothing else', async () => {
      const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(), async (steps, from) => {
        await using opened = await openShared(open);
        const { other, cache } = opened;
        const revisions = new Map<string, number>();
        const model = new Model();
        const states: { revision: number; known: Map<string, string> }[] = [];
        const watch = (revision: number) => {
          const sink = new RecordingSink();
          cache.watch(lease(''), { at: 'exact', revision }, everything, new TextEncoding(), sink);
          return sink;
        };
        const start = cache.applied;
        const live = watch(start);
        for (const { key, value } of steps) {
          const revision = await write(other, revisions, key, value);
          if (revision === undefined) continue;
          model.take(key, value);
          states.push({ revision, known: new Map(model.known) });
        }
        const last = states.at(-1);
        if (last === undefined) return;
        await eventually('everything is applied', () => cache.applied >= last.revision);
        const hasAll = (sink: RecordingSink, known: ReadonlyMap<string, string>) => () =>
          JSON.stringify([...replay(sink.events, known)].sort()) === JSON.stringify([...last.known].sort());
        await eventually(`the watch has it: ${live.events}`, hasAll(live, new Map()));
        const items = cache.list(lease(''), '', 0).items.map(({ key }) => key);
        assert.deepEqual(items, [...last.known.keys()].sort());
        for (const key of names.map(lease)) {
          assert.equal(cache.lookup(key) !== undefined, revisions.has(key), `${key} exists or not`);
        }
        const middle = states[from % states.length];
        if (middle === undefined) return;
        const late = watch(middle.revision);
        await eventually(`the later watch has it: ${late.events}`, hasAll(late, middle.known));
      });
      await fc.assert(property, { numRuns: 15 });
    });
  });
}
