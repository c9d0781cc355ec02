import assert from 'node:assert/strict';
import { test } from 'node:test';
import { negotiate } from '../../../../../src/apiserver/http/negotiation/negotiate.ts';
import { createNegotiator } from '../../../../../src/apiserver/http/negotiation/negotiator.ts';

test('what is remembered is what would be negotiated, for each kind of answer', () => {
  const negotiator = createNegotiator('k8s.io');
  const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/yaml';
  for (let round = 0; round < 3; round += 1) {
    for (const accept of [undefined, table, 'application/yaml, */*;q=0.1']) {
      for (const answer of ['object', 'list', 'watch', 'status'] as const) {
        assert.deepEqual(negotiator(accept, answer), negotiate(accept, answer, 'k8s.io'));
      }
    }
    assert.throws(() => negotiator('application/yaml', 'watch'), /media types are served/, 'a refusal too');
  }
  assert.equal(negotiator(table, 'object'), negotiator(table, 'object'), 'the same one');
});

test('little is remembered, whatever clients send', () => {
  const negotiator = createNegotiator('k8s.io');
  const long = `application/json;x=${'y'.repeat(5000)}`;
  assert.notEqual(negotiator(long, 'object'), negotiator(long, 'object'));
  const first = negotiator('application/json', 'object');
  for (let index = 0; index < 100; index += 1) negotiator(`application/json;x=${index}`, 'object');
  assert.notEqual(negotiator('application/json', 'object'), first, 'forgotten');
});
