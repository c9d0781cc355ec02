import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RemovalDelays } from '../../../../../src/agent/plugins/csi/removal-delays.ts';

const none: ReadonlySet<string> = new Set();

test('a driver that was here stays for a moment, one that an earlier agent has left for longer, and both are kept when they come', () => {
  const delays = new RemovalDelays({ lingerMs: 5, graceMs: 300 });
  delays.update(['here', 'earlier', 'late'], new Set(['here']), 1000);
  assert.deepEqual([...delays.due(1299)], []);

  // given that the one leaves, and that another registers late
  delays.update(['here', 'earlier', 'late'], new Set(['late']), 1100);
  assert.equal(delays.nextMs(1100), 5);
  assert.deepEqual([...delays.due(1105)], ['here']);

  // when it comes back, nothing of it is due any more
  delays.update(['here', 'earlier', 'late'], new Set(['here', 'late']), 1106);
  assert.deepEqual([...delays.due(1299)], []);
  assert.deepEqual([...delays.due(1300)], ['earlier']);

  // and what the API does not tell of any more is forgotten
  delays.update(['here'], none, 1301);
  assert.deepEqual([...delays.due(1306)], ['here']);
  delays.update([], none, 1307);
  assert.equal(delays.nextMs(1307), Infinity);
});
