import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyConfiguration, trackUpdate } from '../../../../src/api/index.ts';
import { timeOf } from './play.ts';
import { small, smallObject } from './small.ts';

/** Items that count how often their key is read. */
class Items {
  reads = 0;

  make(count: number, text: string): object[] {
    const read = () => void this.reads++;
    return Array.from({ length: count }, (_, index) => ({
      get name() {
        read();
        return `item-${index}`;
      },
      text,
    }));
  }
}

function writer(manager: string, operation: 'Apply' | 'Update') {
  return { manager, operation, apiVersion: 'v1', subresource: '' };
}

/** How often keys are read when `count` items are created, all taken over in another order, and all let go. */
function readsOf(count: number): number {
  const items = new Items();
  const options = { force: true, now: timeOf(1) };
  const configuration = smallObject({ text: '1', items: items.make(count, 'a') });
  const live = applyConfiguration(small, undefined, configuration, writer('a', 'Apply'), options);
  const reversed = smallObject({ items: items.make(count, 'b').reverse() });
  const taken = applyConfiguration(small, live, reversed, writer('b', 'Apply'), options);
  const managedFields = trackUpdate(small, taken, live, undefined, writer('c', 'Update'), timeOf(2)) ?? [];
  assert.equal(managedFields.length, 3);
  const left = applyConfiguration(small, taken, smallObject({ text: '1' }), writer('b', 'Apply'), options);
  assert.equal(Object.values(left.spec ?? {}).flat().length, count + 1, 'items stay, they are a’s too');
  return items.reads;
}

test('ten times as many items are ten times as much work', () => {
  const few = readsOf(100);
  assert.equal(readsOf(1000), 10 * few);
  assert.ok(few < 100 * 100, `${few} reads`);
});

test('ten thousand items exhaust neither the stack nor the patience: each is read as often as one of a hundred', () => {
  assert.equal(readsOf(10_000), 100 * readsOf(100));
});
