import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ClusterRole } from '../../../../../src/api/index.ts';
import { AggregatedRoles } from '../../../../../src/apiserver/controllers/role-aggregation/aggregated-roles.ts';

type Selectors = NonNullable<NonNullable<ClusterRole['aggregationRule']>['clusterRoleSelectors']>;

const labelled = (labels: Record<string, string> = {}): ClusterRole => ({ metadata: { labels } });
const gathering = (...clusterRoleSelectors: Selectors): ClusterRole => ({
  aggregationRule: { clusterRoleSelectors },
});

function membersBy(...selectors: Selectors): readonly string[] {
  const all = new AggregatedRoles();
  all.set('plain', labelled());
  all.set('red', labelled({ color: 'red' }));
  all.set('green', labelled({ color: 'green', size: 'xl' }));
  all.set('gathers', gathering(...selectors));
  return all.membersOf('gathers') ?? [];
}

describe('the roles that a role gathers', () => {
  const rows: [string, Selectors, string[]][] = [
    ['by a label', [{ matchLabels: { color: 'red' } }], ['red']],
    ['by all labels of a selector', [{ matchLabels: { color: 'green', size: 'xl' } }], ['green']],
    [
      'by any of the selectors',
      [{ matchLabels: { color: 'red' } }, { matchLabels: { size: 'xl' } }],
      ['green', 'red'],
    ],
    [
      'by one of several values',
      [{ matchExpressions: [{ key: 'color', operator: 'In', values: ['red', 'x'] }] }],
      ['red'],
    ],
    [
      'by other values, or none',
      [{ matchExpressions: [{ key: 'color', operator: 'NotIn', values: ['red'] }] }],
      ['green', 'plain'],
    ],
    ['by having a label', [{ matchExpressions: [{ key: 'size', operator: 'Exists' }] }], ['green']],
    ['by lacking it', [{ matchExpressions: [{ key: 'color', operator: 'DoesNotExist' }] }], ['plain']],
    [
      'by both parts of a selector',
      [{ matchLabels: { color: 'green' }, matchExpressions: [{ key: 'size', operator: 'DoesNotExist' }] }],
      [],
    ],
    ['by nothing: all but itself', [{}], ['green', 'plain', 'red']],
    ['by no selector: none', [], []],
    [
      'by an operator that is not known: none',
      [{ matchExpressions: [{ key: 'color', operator: 'Like', values: ['r'] }] }],
      [],
    ],
    [
      'by a label that every object inherits: none',
      [{ matchExpressions: [{ key: 'toString', operator: 'Exists' }] }],
      [],
    ],
  ];
  for (const [what, selectors, members] of rows) {
    test(what, () => assert.deepEqual(membersBy(...selectors), members));
  }
});

describe('what a change affects', () => {
  const byColor = gathering({ matchLabels: { color: 'red' } });

  test('is whatever gathers the role, or did', () => {
    const all = new AggregatedRoles();
    assert.deepEqual(all.set('gathers', byColor), ['gathers']);
    assert.deepEqual(all.set('other', labelled({ color: 'green' })), []);
    assert.deepEqual(all.set('red', labelled({ color: 'red' })), ['gathers']);
    assert.deepEqual(all.set('red', labelled({ color: 'green' })), ['gathers'], 'no longer');
    assert.deepEqual(all.set('red', labelled({ color: 'green' })), []);
    all.set('red', labelled({ color: 'red' }));
    assert.deepEqual(all.set('red', undefined), ['gathers']);
    assert.deepEqual(all.membersOf('gathers'), []);
  });

  test('is the role itself where it gathers, and nothing once it does not', () => {
    const all = new AggregatedRoles();
    all.set('red', labelled({ color: 'red' }));
    all.set('gathers', byColor);
    assert.deepEqual(all.membersOf('gathers'), ['red']);
    assert.deepEqual(all.set('gathers', gathering({ matchLabels: { color: 'x' } })), ['gathers']);
    assert.deepEqual(all.membersOf('gathers'), []);
    assert.deepEqual(all.set('gathers', labelled()), []);
    assert.equal(all.membersOf('gathers'), undefined);
  });
});
