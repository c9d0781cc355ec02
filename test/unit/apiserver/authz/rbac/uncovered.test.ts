import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRule } from '../../../../../src/api/index.ts';
import { uncovered } from '../../../../../src/apiserver/authz/index.ts';
import { byRule, may, rule, to } from './ask.ts';

const all = rule({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
const at = (verb: string, ...nonResourceURLs: string[]): PolicyRule => ({ verbs: [verb], nonResourceURLs });

type Row = readonly [what: string, held: PolicyRule[], wanted: PolicyRule[], missing: PolicyRule[]];

const rows: Row[] = [
  ['nothing is covered by nothing', [], [], []],
  ['something is not', [], [rule()], [rule()]],
  ['a rule covers itself', [rule()], [rule()], []],
  ['everything covers all resources', [all], [rule(), rule({ resources: ['a/b', '*/c'] }), all], []],
  ['but no paths', [all], [at('get', '/x')], [at('get', '/x')]],
  ['* is covered by * only', [rule()], [rule({ verbs: ['*'] })], [rule({ verbs: ['*'] })]],
  [
    'several rules together',
    [rule({ verbs: ['get'] }), rule({ verbs: ['list'], resources: ['pods', 'nodes'] })],
    [rule({ verbs: ['get', 'list'] })],
    [],
  ],
  [
    'what is missing is told, the verbs together',
    [rule({ verbs: ['get'] })],
    [rule({ verbs: ['get', 'list', 'watch'], resources: ['pods', 'nodes'] })],
    [rule({ verbs: ['get', 'list', 'watch'], resources: ['nodes'] }), rule({ verbs: ['list', 'watch'] })],
  ],
  [
    'a subresource is covered by its own name',
    [rule({ resources: ['pods/log'] })],
    [rule({ resources: ['pods/log'] })],
    [],
  ],
  ['and by */log', [rule({ resources: ['*/log'] })], [rule({ resources: ['pods/log', '*/log'] })], []],
  ['not by its resource', [rule()], [rule({ resources: ['pods/log'] })], [rule({ resources: ['pods/log'] })]],
  [
    '*/log is not covered by one',
    [rule({ resources: ['pods/log'] })],
    [rule({ resources: ['*/log'] })],
    [rule({ resources: ['*/log'] })],
  ],
  ['all names cover some', [rule()], [rule({ resourceNames: ['x'] })], []],
  ['some names do not cover all', [rule({ resourceNames: ['x', ''] })], [rule()], [rule()]],
  [
    'names are looked at one by one',
    [rule({ resourceNames: ['x'] })],
    [rule({ resourceNames: ['x', 'y'] })],
    [rule({ resourceNames: ['y'] })],
  ],
  [
    'another group is missing',
    [rule()],
    [rule({ apiGroups: ['', 'apps'] })],
    [rule({ apiGroups: ['apps'] })],
  ],
  ['a path by the same', [at('get', '/x')], [at('get', '/x')], []],
  ['a path by what lies above', [at('get', '/x/*')], [at('get', '/x/y', '/x/y/*')], []],
  ['not the other way round', [at('get', '/x/y')], [at('get', '/x/*')], [at('get', '/x/*')]],
  ['every path by *', [at('*', '*')], [at('get', '/x', '/*', '*')], []],
];

describe('what is not covered', () => {
  for (const [what, held, wanted, missing] of rows) {
    test(what, () => {
      const found = uncovered(held, wanted);
      assert.ok(found !== 'tooMany');
      const sorted = (rules: readonly PolicyRule[]) =>
        rules.map((each) => JSON.stringify(sortedRule(each))).sort();
      assert.deepEqual(sorted(found), sorted(missing));
    });
  }

  test('is not looked for among too many combinations', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);
    const huge = rule({ verbs: many(50), apiGroups: many(50), resources: many(50) });
    assert.equal(uncovered([all], [huge]), 'tooMany');
    assert.deepEqual(uncovered([all], [rule({ resources: many(50_000) })]), []);
  });

  test('is what the authorizer refuses to whoever holds the rest', () => {
    const some = (...values: string[]) => fc.constantFrom(...values);
    const rules = fc.array(
      fc.record({
        verbs: fc.array(some('get', 'create', '*'), { minLength: 1, maxLength: 2 }),
        apiGroups: fc.array(some('', 'apps', '*'), { minLength: 1, maxLength: 2 }),
        resources: fc.array(some('pods', 'pods/log', '*/log', '*'), { minLength: 1, maxLength: 2 }),
      }),
      { maxLength: 3 },
    );
    const asked = fc.record({
      verb: some('get', 'create', 'x'),
      group: some('', 'apps', 'y'),
      resource: some('pods', 'nodes'),
      subresource: some('', 'log', 'exec'),
    });
    fc.assert(
      fc.property(rules, rules, asked, (held, wanted, question) => {
        if (uncovered(held, wanted).length > 0) return;
        const byAny = (list: readonly PolicyRule[]) => list.some((each) => may(byRule(each), to(question)));
        assert.ok(!byAny(wanted) || byAny(held), 'nobody gives what they do not have');
      }),
      { numRuns: 3_000 },
    );
  });
});

function sortedRule(each: PolicyRule): PolicyRule {
  return { ...each, verbs: [...each.verbs].sort() };
}
