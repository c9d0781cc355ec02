import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { Lease, Node } from '../../../../src/api/index.ts';
import { leaseKind, nodeKind, parseFieldSelector, SelectorError } from '../../../../src/api/index.ts';

const node: Node = { metadata: { name: 'a' }, spec: { unschedulable: true } };
const matches = (selector: string) => parseFieldSelector(nodeKind, selector).matches(node);

describe('field selectors', () => {
  test('select by name, namespace and the fields that the kind offers', () => {
    for (const selector of [
      '',
      ',',
      'metadata.name=a',
      'metadata.name==a',
      'metadata.name!=b',
      'metadata.namespace=',
    ]) {
      assert.equal(matches(selector), true, selector);
    }
    assert.equal(matches('spec.unschedulable=true,metadata.name=a'), true);
    assert.equal(matches('spec.unschedulable=true,metadata.name!=a'), false);
    assert.equal(matches('spec.unschedulable!=true'), false);
    const lease: Lease = { metadata: { name: 'a', namespace: 'x' } };
    assert.equal(parseFieldSelector(leaseKind, 'metadata.namespace=x').matches(lease), true);
    assert.equal(parseFieldSelector(leaseKind, 'metadata.namespace=y').matches(lease), false);
    assert.equal(parseFieldSelector(leaseKind, 'metadata.name!=').matches({}), false);
  });

  test('know the one value that can match', () => {
    const selector = parseFieldSelector(nodeKind, 'metadata.name=a,spec.unschedulable!=true');
    assert.equal(selector.exact('metadata.name'), 'a');
    assert.equal(selector.exact('spec.unschedulable'), undefined);
    assert.equal(selector.exact('metadata.namespace'), undefined);
    assert.deepEqual(selector.requirements, [
      { field: 'metadata.name', operator: '=', value: 'a' },
      { field: 'spec.unschedulable', operator: '!=', value: 'true' },
    ]);
  });

  test('of a field that is not offered are refused, naming those that are', () => {
    for (const field of ['spec.providerID', 'name', ' metadata.name', '', 'constructor', '__proto__']) {
      assert.throws(
        () => parseFieldSelector(nodeKind, `metadata.name=a,${field}=b`),
        (error) => {
          assert.ok(error instanceof SelectorError);
          assert.match(
            error.message,
            /field label not supported: ".*"; a Node can be selected by metadata.name, metadata.namespace, spec.unschedulable$/,
          );
          assert.equal(error.position, 16);
          return true;
        },
      );
    }
  });

  const mistakes: [string, number, RegExp][] = [
    ['metadata.name', 0, /"metadata.name" has no operator/],
    ['metadata.name=a,b', 16, /"b" has no operator/],
    ['metadata.name in (a)', 0, /has no operator/],
    ['metadata.name=a=b', 15, /"=" in a value is written "\\="/],
    ['metadata.name=\\a', 14, /is no escape/],
    ['metadata.name=a\\', 15, /is no escape/],
    ['metadata\\.name=a', 0, /has no operator/],
    ['metadata.name!a', 0, /has no operator/],
  ];
  for (const [text, position, message] of mistakes) {
    test(`tell where ${JSON.stringify(text)} goes wrong`, () => {
      assert.throws(
        () => parseFieldSelector(nodeKind, text),
        (error) =>
          error instanceof SelectorError && error.position === position && message.test(error.message),
      );
    });
  }

  test('are bounded in length and number', () => {
    assert.throws(() => parseFieldSelector(nodeKind, 'a'.repeat(70_000)), /longer than 65536 characters/);
    assert.throws(
      () => parseFieldSelector(nodeKind, 'metadata.name!=a,'.repeat(1001)),
      /more than 1000 requirements/,
    );
    assert.throws(
      () => parseFieldSelector(nodeKind, `${'b'.repeat(60_000)}=c`),
      (error) => {
        return error instanceof SelectorError && error.message.length < 500;
      },
    );
  });

  test('take any value that is escaped, and only that value', () => {
    const value = fc.string({ unit: fc.constantFrom('a', ',', '=', '\\', '!', ' ', 'ä', '😀', '\n') });
    fc.assert(
      fc.property(value, value, fc.constantFrom('=', '==', '!='), (wanted, given, operator) => {
        const escaped = wanted.replaceAll(/[\\,=]/g, '\\$&');
        const selector = parseFieldSelector(
          nodeKind,
          `metadata.name${operator}${escaped},metadata.namespace=`,
        );
        const expected = (wanted === given) === (operator !== '!=');
        assert.equal(selector.matches({ metadata: { name: given } }), expected);
        assert.equal(selector.exact('metadata.name'), operator === '!=' ? undefined : wanted);
      }),
      { numRuns: 1000 },
    );
  });

  test('fail with nothing but a SelectorError', () => {
    const text = fc.array(fc.constantFrom('metadata.name', '=', '!', ',', '\\', 'a', ' '), { maxLength: 12 });
    fc.assert(
      fc.property(text, (parts) => {
        try {
          parseFieldSelector(nodeKind, parts.join('')).matches(node);
        } catch (error) {
          assert.ok(error instanceof SelectorError);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
