import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { PolicyRule } from '../../../../../src/api/index.ts';
import { findMissingRules } from '../../../../../src/apiserver/authz/index.ts';
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
      const found = findMissingRules(held, wanted);
      assert.ok(found !== 'tooMany');
      const sorted = (rules: readonly PolicyRule[]) =>
        rules.map((each) => JSON.stringify(sortedRule(each))).sort();
      assert.deepEqual(sorted(found), sorted(missing));
    });
  }

  test('is not looked for among too many combinations', () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`);
    const huge = rule({ verbs: many(50), apiGroups: many(50), resources: many(50) });
    assert.equal(findMissingRules([all], [huge]), 'tooMany');
    assert.deepEqual(findMissingRules([all], [rule({ resources: many(50_000) })]), []);
  });

  test('is found with about as many comparisons as there are rules held and names wanted', () => {
    const held = named('own', 1_000).map((name) => rule({ resourceNames: [name] }));
    const wanted = [rule({ verbs: ['zz', 'get'], resourceNames: named('other', 2_000) })];
    let missing: ReturnType<typeof findMissingRules> = [];
    const looks = looksAtSets(() => {
      missing = findMissingRules(held, wanted);
    });
    assert.equal(missing.length, 2_000);
    assert.ok(looks < 20_000, `${looks} comparisons`);
  });

  test('is not looked for where too much that is held would have to be compared', () => {
    const held = named('pod', 2_000).map((name) => rule({ verbs: [name], resourceNames: [name] }));
    const wanted = rule({ verbs: named('verb', 1_000) });
    assert.equal(findMissingRules(held, [wanted]), 'tooMany');
    assert.deepEqual(findMissingRules(held, [rule({ verbs: ['zz'] })]), [rule({ verbs: ['zz'] })]);
    assert.deepEqual(findMissingRules([all, ...held], [wanted]), []);

    const heldPaths = named('/held', 2_000).map((path) => at('get', `${path}/*`));
    assert.equal(findMissingRules(heldPaths, [at('get', ...named('/wanted', 1_000))]), 'tooMany');
    assert.deepEqual(findMissingRules(heldPaths, [at('get', '/held7/x')]), []);
  });

  test('is not looked for among more rules than can be made ready in reasonable time', () => {
    const held = named('pod', 100_000).map((name) => rule({ resourceNames: [name] }));
    assert.equal(findMissingRules(held, [rule()]), 'tooMany');
    assert.deepEqual(findMissingRules(held, [rule({ resources: ['nodes'] })]), [
      rule({ resources: ['nodes'] }),
    ]);
  });

  test('is told apart from names held by several rules for several verbs', () => {
    const held = [
      rule({ verbs: ['get', 'list'], resourceNames: ['x'] }),
      rule({ verbs: ['get'], resourceNames: ['y'] }),
      rule({ verbs: ['list'], resourceNames: ['z'] }),
    ];
    const wanted = [rule({ verbs: ['get', 'list'], resourceNames: ['x', 'y', 'z'] }), rule()];
    const missing = findMissingRules(held, wanted);
    assert.ok(missing !== 'tooMany');
    assert.deepEqual(
      new Set(missing),
      new Set([rule({ resourceNames: ['z'] }), rule(), rule({ verbs: ['list'], resourceNames: ['y'] })]),
    );
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
        if (findMissingRules(held, wanted).length > 0) return;
        const byAny = (list: readonly PolicyRule[]) => list.some((each) => may(byRule(each), to(question)));
        assert.ok(!byAny(wanted) || byAny(held), 'nobody gives what they do not have');
      }),
      { numRuns: 3_000 },
    );
  });
});

function named(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`);
}

/** How often anything is looked up in a set while `work` is done. */
function looksAtSets(work: () => void): number {
  const { has } = Set.prototype;
  let looks = 0;
  Set.prototype.has = function (value) {
    looks++;
    return has.call(this, value);
  };
  try {
    work();
  } finally {
    Set.prototype.has = has;
  }
  return looks;
}

function sortedRule(each: PolicyRule): PolicyRule {
  return { ...each, verbs: [...each.verbs].sort() };
}
