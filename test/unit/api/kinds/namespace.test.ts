import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Namespace } from '../../../../src/api/index.ts';
import { namespaceKind } from '../../../../src/api/index.ts';

const active: Namespace = { metadata: { name: 'a' }, status: { phase: 'Active' } };
const causes = (namespace: Namespace) =>
  namespaceKind.validate(namespace, undefined).map(({ field, message }) => `${field}: ${message}`);

describe('a namespace', () => {
  test('is active when it is made, whatever was sent', () => {
    assert.equal(
      namespaceKind.prepare({ status: { phase: 'Terminating' } }, undefined).status?.phase,
      'Active',
    );
    const going: Namespace = { ...active, status: { phase: 'Terminating' } };
    assert.equal(namespaceKind.prepare(going, active).status?.phase, 'Terminating');
  });

  test('always bears its name as a label', () => {
    const label = 'kubernetes.io/metadata.name';
    const sent: Namespace = { metadata: { name: 'a', labels: { [label]: 'b', c: 'd' } } };
    assert.deepEqual(namespaceKind.default(sent).metadata?.labels, { [label]: 'a', c: 'd' });
    assert.deepEqual(sent.metadata?.labels, { [label]: 'b', c: 'd' }, 'what was sent is left alone');
    assert.equal(namespaceKind.default({ metadata: { generateName: 'a-' } }).metadata?.labels, undefined);
  });

  test('has finalizers that are good names', () => {
    assert.deepEqual(causes({ ...active, spec: { finalizers: ['kubernetes', 'example.com/x'] } }), []);
    assert.match(
      causes({ ...active, spec: { finalizers: ['a b'] } })[0] ?? '',
      /^spec.finalizers\[0\]: Invalid value: "a b"/,
    );
  });

  test('is active until its deletion is asked for, and terminating from then on', () => {
    assert.deepEqual(causes(active), []);
    assert.match(
      causes({ ...active, status: { phase: 'Terminating' } })[0] ?? '',
      /^status.phase: .* may only be 'Active'/,
    );
    const deleted = { name: 'a', deletionTimestamp: '2024-01-01T00:00:00Z' };
    assert.deepEqual(causes({ metadata: deleted, status: { phase: 'Terminating' } }), []);
    assert.match(
      causes({ metadata: deleted, status: { phase: 'Active' } })[0] ?? '',
      /may only be 'Terminating'/,
    );
  });

  test('changes its finalizers through finalize alone', () => {
    const finalize = namespaceKind.subresources.find(({ name }) => name === 'finalize');
    assert.deepEqual(finalize?.fields, ['spec']);
  });
});
