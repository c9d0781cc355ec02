import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseLabelSelector, SelectorError } from '../../../../src/api/index.ts';

function matches(selector: string, labels: Record<string, string>): boolean {
  return parseLabelSelector(selector).matches({ metadata: { labels } });
}

/** What a selector was understood as: `key Operator value,value`. */
function understood(selector: string): string[] {
  return parseLabelSelector(selector).requirements.map(({ key, operator, values }) =>
    `${key} ${operator} ${values.map((value) => value || "''").join()}`.trim(),
  );
}

describe('label selectors', () => {
  test('select by value, by set and by presence', () => {
    const labels = { app: 'web', tier: 'front', 'kubernetes.io/os': 'linux', size: '10', none: '' };
    for (const selector of [
      '',
      ' ',
      'app=web',
      'app==web',
      'app != db',
      'app in (web, db)',
      'app notin (db)',
      'app',
      '!db',
      '! db',
      'kubernetes.io/os=linux,app,!db,tier in (front)',
      'none=',
      'none in ()',
      'absent!=x',
      'absent notin (x,)',
      'size>9',
      'size<11',
    ]) {
      assert.equal(matches(selector, labels), true, selector);
    }
    for (const selector of [
      'app=db',
      'app!=web',
      'app in (db)',
      'app notin (web,db)',
      'db',
      '!app',
      'app,db',
      'absent=',
      'absent in ()',
      'size>10',
      'size<10',
      'app>1',
      'absent>0',
    ]) {
      assert.equal(matches(selector, labels), false, selector);
    }
  });

  test('say of an object without labels what they say of one with others', () => {
    for (const object of [{}, { metadata: {} }, { metadata: { labels: {} } }]) {
      assert.equal(parseLabelSelector('a').matches(object), false);
      assert.equal(parseLabelSelector('!a,a!=b,a notin (b)').matches(object), true);
    }
    for (const key of ['constructor', 'toString', 'hasOwnProperty'])
      assert.equal(matches(key, {}), false, key);
  });

  test('are read with any blanks, empty values and the words in and notin anywhere', () => {
    assert.deepEqual(understood('x in\n(a,\t b),y'), ['x In a,b', 'y Exists']);
    assert.deepEqual(understood('x in (a,,a,),z=,w= ,v'), ["x In a,''", "z In ''", "w In ''", 'v Exists']);
    assert.deepEqual(understood('x notin (, a)'), ["x NotIn '',a"]);
    assert.deepEqual(understood('in in (in,notin),notin=in,in,!notin'), [
      'in In in,notin',
      'notin In in',
      'in Exists',
      'notin DoesNotExist',
    ]);
    assert.deepEqual(understood('x>007'), ['x Gt 007']);
  });

  const mistakes: [string, number, RegExp][] = [
    ['a,', 2, /expected a label key, found the end/],
    [',a', 0, /expected a label key, found ","/],
    ['a b', 2, /expected one of = == != < > in notin, found "b"/],
    ['!a=b', 2, /expected ',' or the end, found "="/],
    ['a=b=c', 3, /expected ',' or the end/],
    ['a=b c', 4, /expected ',' or the end, found "c"/],
    ['x=a||y=b', 2, /"a\|\|y" is no label value/],
    ['a in b', 5, /expected '\(', found "b"/],
    ['a in (b', 7, /expected ',' or '\)', found the end/],
    ['a in (b c)', 8, /expected ',' or '\)', found "c"/],
    ['a notin(', 8, /found the end/],
    ['a in (b)c', 8, /expected ',' or the end/],
    ['a===b', 3, /found "="/],
    ['a!b', 1, /found "!"/],
    ['-a=b', 0, /"-a" is no label key: name part must consist/],
    ['a=-b', 2, /"-b" is no label value/],
    ['a/b/c', 0, /is no label key/],
    ['a<b', 2, /expected an integer, found "b"/],
    ['a>', 2, /expected an integer, found the end/],
    ['a>99999999999999999999', 2, /expected an integer/],
    ['()', 0, /expected a label key/],
    ['ä=1', 0, /is no label key/],
  ];
  for (const [text, position, message] of mistakes) {
    test(`tell where ${JSON.stringify(text)} goes wrong`, () => {
      assert.throws(
        () => parseLabelSelector(text),
        (error) => {
          assert.ok(error instanceof SelectorError);
          assert.match(error.message, message);
          assert.equal(error.position, position);
          assert.ok(error.message.startsWith(`label selector, character ${position + 1}: `));
          return true;
        },
      );
    });
  }

  test('are bounded in length and number', () => {
    assert.throws(() => parseLabelSelector('a'.repeat(70_000)), /longer than 65536 characters/);
    assert.throws(() => parseLabelSelector(Array(1001).fill('!a').join()), /more than 1000 requirements/);
    assert.equal(parseLabelSelector(Array(1000).fill('!a').join()).requirements.length, 1000);
    assert.throws(
      () => parseLabelSelector(`${'b'.repeat(60_000)}=c`),
      (thrown) => {
        return thrown instanceof SelectorError && thrown.message.length < 500;
      },
    );
  });
});

describe('label selectors of any kind', () => {
  const word = fc.constantFrom('a', 'b', 'in', 'notin', 'x.io/a', '1');
  const value = fc.constantFrom('', 'a', 'b', 'in', 'notin', '7');
  const blank = fc.constantFrom('', ' ', '\t');
  const exact = fc.record({ key: word, operator: fc.constantFrom('=', '==', '!='), value });
  const set = fc.record({
    key: word,
    operator: fc.constantFrom('in', 'notin'),
    values: fc.array(value, { minLength: 1, maxLength: 4 }),
  });
  const presence = fc.record({ key: word, operator: fc.constantFrom('', '!') });
  const labels = fc.dictionary(word, value, { noNullPrototype: true });

  test('match as the plain meaning of their parts has it', () => {
    const requirement = fc.oneof(
      exact.map(({ key, operator, value: wanted }) => ({
        text: [key, operator, wanted],
        holds: (given: Record<string, string>) => (given[key] === wanted) === (operator !== '!='),
      })),
      set.map(({ key, operator, values }) => ({
        text: [key, ' ', operator, '(', values.join(), ')'],
        holds: (given: Record<string, string>) =>
          values.some((one) => one === given[key]) === (operator === 'in'),
      })),
      presence.map(({ key, operator }) => ({
        text: [operator, key],
        holds: (given: Record<string, string>) => Object.hasOwn(given, key) === (operator === ''),
      })),
    );
    fc.assert(
      fc.property(fc.array(requirement, { maxLength: 4 }), labels, blank, (requirements, given, space) => {
        const text = requirements.map((one) => one.text.join(space)).join(`${space},${space}`);
        const expected = requirements.every((one) => one.holds(given));
        assert.equal(matches(text, given), expected, text);
      }),
      { numRuns: 1000 },
    );
  });

  test('fail with nothing but a SelectorError', () => {
    const text = fc.string({ unit: fc.constantFrom(...'ab=!<>(),in notin/-_.1ä\n') });
    fc.assert(
      fc.property(text, (selector) => {
        try {
          parseLabelSelector(selector).matches({ metadata: { labels: { a: 'b' } } });
        } catch (error) {
          assert.ok(error instanceof SelectorError);
          assert.ok(error.position >= 0 && error.position <= selector.length);
        }
      }),
      { numRuns: 3000 },
    );
  });
});
