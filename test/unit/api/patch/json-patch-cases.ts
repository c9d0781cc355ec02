/** A step of a JSON Patch, and what does not deserve the name. */
export type Step = Readonly<Record<string, unknown>>;

export interface Case {
  /** What the case is about. */
  about: string;
  document: unknown;
  patch: readonly Step[];
  /** What comes out; or the reason why nothing does. */
  result: { is: unknown } | { fails: RegExp } | { malformed: RegExp };
}

const add = (path: string, value: unknown): Step => ({ op: 'add', path, value });
const replace = (path: string, value: unknown): Step => ({ op: 'replace', path, value });
const check = (path: string, value: unknown): Step => ({ op: 'test', path, value });
const remove = (path: string): Step => ({ op: 'remove', path });
const copy = (from: string, path: string): Step => ({ op: 'copy', from, path });
const move = (from: string, path: string): Step => ({ op: 'move', from, path });

const is = (value: unknown) => ({ is: value });
const fails = (why: RegExp) => ({ fails: why });
const malformed = (why: RegExp) => ({ malformed: why });

const noIndex = fails(/is no index of a list/);
const beyond = fails(/is beyond the end of the list/);
const missing = fails(/there is nothing at/);
const other = fails(/the value there is another one/);

type Row = readonly [about: string, document: unknown, patch: readonly Step[], result: Case['result']];

/*
 * What the public conformance cases for RFC 6902 ask (github.com/json-patch/json-patch-tests, both files, with those
 * that are switched off there but for the one about a key that stands twice, which a parsed patch cannot have), and
 * what they leave open.
 */

const whole: readonly Row[] = [
  ['no operation changes nothing in an empty object', {}, [], is({})],
  ['no operation changes nothing', { cpu: 1 }, [], is({ cpu: 1 })],
  ['the order of members says nothing', { cpu: 1, mem: 2 }, [], is({ mem: 2, cpu: 1 })],
  ['nor does it in a list', [{ cpu: 1, mem: 2 }], [], is([{ mem: 2, cpu: 1 }])],
  ['nor further down', { node: { cpu: 1, mem: 2 } }, [], is({ node: { mem: 2, cpu: 1 } })],
  ['a list can be the document', ['a'], [], is(['a'])],
  ['the root is replaced', { a: 'b' }, [replace('', { c: 'd' })], is({ c: 'd' })],
  ['the root is replaced by add', { a: 'b' }, [add('', { c: 'd' })], is({ c: 'd' })],
  ['an object gives way to a list', {}, [add('', [])], is([])],
  ['a list gives way to an object', [], [add('', {})], is({})],
  ['a scalar gives way to a scalar', 'a', [replace('', 'b')], is('b')],
  ['the root is tested', { a: 1 }, [check('', { a: 1 })], is({ a: 1 })],
  ['the root cannot be removed', { a: 1 }, [remove('')], fails(/whole object cannot be taken away/)],
  ['the root moves to itself', { a: 1 }, [move('', '')], is({ a: 1 })],
  ['a scalar has no members', 'a', [add('/b', 1)], fails(/at the root is neither an object nor a list/)],
];

const adding: readonly Row[] = [
  ['a member over null', { taint: null }, [add('/taint', 1)], is({ taint: 1 })],
  ['an item to an empty list at the root', [], [add('/0', 'a')], is(['a'])],
  ['a text that looks like a number', {}, [add('/n', '10')], is({ n: '10' })],
  ['a number', {}, [add('/n', 10)], is({ n: 10 })],
  ['an item to the end of the list at the root', [], [add('/-', 'last')], is(['last'])],
  ['a member with no name', {}, [add('/', 1)], is({ '': 1 })],
  ['a member with no name further down', { spec: {} }, [add('/spec/', 1)], is({ spec: { '': 1 } })],
  ['a list as a member', { a: 1 }, [add('/list', [1, 2])], is({ a: 1, list: [1, 2] })],
  [
    'a member inside of a list',
    { a: 1, l: [{ x: 'y' }] },
    [add('/l/0/z', 'w')],
    is({ a: 1, l: [{ x: 'y', z: 'w' }] }),
  ],
  ['true', { a: 1 }, [add('/b', true)], is({ a: 1, b: true })],
  ['false', { a: 1 }, [add('/b', false)], is({ a: 1, b: false })],
  ['null', { a: 1 }, [add('/b', null)], is({ a: 1, b: null })],
  ['a member called 0', { a: 1 }, [add('/0', 'b')], is({ a: 1, '0': 'b' })],
  ['an item behind the only one', ['a'], [add('/1', 'b')], is(['a', 'b'])],
  ['an item in the middle', ['a', 'c'], [add('/1', 'b')], is(['a', 'b', 'c'])],
  ['an item at the front', ['b', 'c'], [add('/0', 'a')], is(['a', 'b', 'c'])],
  ['an item behind the last', ['a', 'b'], [add('/2', 'c')], is(['a', 'b', 'c'])],
  ['no item beyond the end', ['a', 'b'], [add('/3', 'c')], beyond],
  ['no item far beyond the end', { l: [1, 2] }, [add('/l/8', '5')], beyond],
  ['no item before the front', { l: [1, 2] }, [add('/l/-1', '5')], noIndex],
  ['no member of a list', ['a', 'b'], [add('/c', 42)], noIndex],
  ['no item at a number with an exponent', ['a', 'b'], [add('/1e0', 'c')], noIndex],
  ['a list as one item', ['a', 'b'], [add('/1', ['c', 'd'])], is(['a', ['c', 'd'], 'b'])],
  ['a list as the last item', { l: ['a'] }, [add('/l/-', ['b', 'c'])], is({ l: ['a', ['b', 'c']] })],
  ['an object at the end', [1, 2], [add('/-', { a: ['b', 'c'] })], is([1, 2, { a: ['b', 'c'] }])],
  ['at the end, levels down', [1, [2, [3]]], [add('/1/1/-', { a: [4] })], is([1, [2, [3, { a: [4] }]]])],
  ['no parents on the way', { q: { bar: 2 } }, [add('/a/b', 1)], missing],
  ['nothing below what is not there', { a: 'b' }, [add('/c/d', 1)], fails(/there is nothing at \/c$/)],
  ['a member', { a: 'b' }, [add('/c', 'd')], is({ a: 'b', c: 'd' })],
  ['a member among items', { l: ['a', 'c'] }, [add('/l/1', 'b')], is({ l: ['a', 'b', 'c'] })],
  ['an object in an object', { a: 'b' }, [add('/c', { d: {} })], is({ a: 'b', c: { d: {} } })],
  ['a name in other letters', { ready: 'yes' }, [add('/READY', 'no')], is({ ready: 'yes', READY: 'no' })],
  ['and what nobody knows is passed over', { a: 1 }, [{ ...add('/b', 2), xyz: 123 }], is({ a: 1, b: 2 })],
  ['in a row', {}, [add('/a', {}), add('/a/b', []), add('/a/b/-', 1)], is({ a: { b: [1] } })],
];

const removing: readonly Row[] = [
  ['a list', { a: 1, l: [1, 2, 3] }, [remove('/l')], is({ a: 1 })],
  ['a member in a list', { a: 1, l: [{ x: 'y' }] }, [remove('/l/0/x')], is({ a: 1, l: [{}] })],
  ['a member', { a: 'b', c: 'd' }, [remove('/a')], is({ c: 'd' })],
  ['an item in the middle', { l: ['a', 'b', 'c'] }, [remove('/l/1')], is({ l: ['a', 'c'] })],
  ['the first item', [1, 2, 3, 4], [remove('/0')], is([2, 3, 4])],
  ['twice: the second counts anew', [1, 2, 3, 4], [remove('/1'), remove('/2')], is([1, 3])],
  ['null', { a: null }, [remove('/a')], is({})],
  ['nothing with a bad index on the way', { l: [{ x: 1 }] }, [remove('/l/1e0/x')], noIndex],
  ['nothing at a bad index', [1, 2, 3, 4], [remove('/1e0')], noIndex],
  ['nothing at the end sign', [1, 2], [remove('/-')], noIndex],
  ['no member that is not there', { a: 'b' }, [remove('/c')], missing],
  ['nothing in what is not there', { a: 'b' }, [remove('/c/d')], missing],
  ['no item that is not there', ['a', 'b'], [remove('/2')], beyond],
];

const replacing: readonly Row[] = [
  [
    'a number by a list',
    { a: 1, l: [{ x: 'y' }] },
    [replace('/a', [1, 2])],
    is({ a: [1, 2], l: [{ x: 'y' }] }),
  ],
  [
    'a member in a list',
    { a: [1], l: [{ x: 'y' }] },
    [replace('/l/0/x', 'z')],
    is({ a: [1], l: [{ x: 'z' }] }),
  ],
  ['a member', { a: 'b', c: 'd' }, [replace('/a', 'e')], is({ a: 'e', c: 'd' })],
  ['an item', ['a'], [replace('/0', 'b')], is(['b'])],
  ['empty text by 0', [''], [replace('/0', 0)], is([0])],
  ['empty text by true', [''], [replace('/0', true)], is([true])],
  ['empty text by false', [''], [replace('/0', false)], is([false])],
  ['empty text by null', [''], [replace('/0', null)], is([null])],
  ['an item by a list, which stays one item', ['a', 'b'], [replace('/1', ['c', 'd'])], is(['a', ['c', 'd']])],
  ['null', { a: null }, [replace('/a', 'b')], is({ a: 'b' })],
  ['by null', { a: 'b' }, [replace('/a', null)], is({ a: null })],
  ['nothing below what is not there', { a: 'b' }, [replace('/c/d', false)], missing],
  ['no member that is not there', { a: 'b' }, [replace('/c', 1)], missing],
  ['nothing at a bad index', [''], [replace('/1e0', false)], noIndex],
  ['nothing at the end sign', ['a'], [replace('/-', 'b')], noIndex],
  ['no item that is not there', ['a'], [replace('/1', 'b')], beyond],
];

const testing: readonly Row[] = [
  ['a member with a name like a number', { '1e0': 'a' }, [check('/1e0', 'a')], is({ '1e0': 'a' })],
  ['no item by a number with an exponent', ['a', 'b'], [check('/1e0', 'b')], noIndex],
  ['no item by an index with zeros in front', ['a', 'b'], [check('/00', 'a')], noIndex],
  ['not even the right one', ['a', 'b'], [check('/01', 'b')], noIndex],
  ['null', { a: null }, [check('/a', null)], is({ a: null })],
  ['objects in any order', { o: { a: 1, b: 2 } }, [check('/o', { b: 2, a: 1 })], is({ o: { a: 1, b: 2 } })],
  ['also in lists', { l: [{ a: 1, b: 2 }] }, [check('/l', [{ b: 2, a: 1 }])], is({ l: [{ a: 1, b: 2 }] })],
  [
    'lists in their order',
    { o: { l: [1, 2, 5] } },
    [check('/o', { l: [1, 2, 5] })],
    is({ o: { l: [1, 2, 5] } }),
  ],
  ['a list in another order', { l: [1, 2] }, [check('/l', [2, 1])], other],
  ['an object against a list', { o: { l: [1, 2] } }, [check('/o', [1, 2])], other],
  ['a list against an object', { l: [] }, [check('/l', {})], other],
  ['a member more', { o: { a: 1 } }, [check('/o', { a: 1, b: 2 })], other],
  ['a member less', { o: { a: 1, b: 2 } }, [check('/o', { a: 1 })], other],
  ['another member', { o: { a: 1 } }, [check('/o', { b: 1 })], other],
  ['a member with no name', { '': 1 }, [check('/', 1)], is({ '': 1 })],
  ['a number against the same text', { '/': 9, '~1': 10 }, [check('/~01', '10')], other],
  ['escapes, in the right order', { '/': 9, '~1': 10 }, [check('/~01', 10)], is({ '/': 9, '~1': 10 })],
  ['another text', { a: 'b' }, [check('/a', 'c')], other],
  ['a number however it is written', { n: 1 }, [check('/n', 1.0), check('/n', 1)], is({ n: 1 })],
  [
    'two that hold',
    { a: 'b', l: ['x', 2] },
    [check('/a', 'b'), check('/l/1', 2)],
    is({ a: 'b', l: ['x', 2] }),
  ],
  ['with what nobody knows beside it', { a: 1 }, [{ ...check('/a', 1), spurious: 1 }], is({ a: 1 })],
  ['a member that is not there is null', { a: 1 }, [check('/b', null)], is({ a: 1 })],
  ['and nothing else', { a: 1 }, [check('/b', 1)], other],
  ['not below what is not there', { a: 1 }, [check('/b/c', null)], missing],
  ['one that fails undoes all', { a: 1 }, [add('/b', 1), check('/a', 2)], other],
];

const oddNames = {
  l: ['x'],
  '': 0,
  'a/b': 1,
  'c%d': 2,
  'e^f': 3,
  'g|h': 4,
  'i\\j': 5,
  'k"l': 6,
  ' ': 7,
  'm~n': 8,
};
const naming: readonly Row[] = [
  [
    'any name can be pointed at',
    oddNames,
    [
      check('/l', ['x']),
      check('/l/0', 'x'),
      check('/', 0),
      check('/a~1b', 1),
      check('/c%d', 2),
      check('/e^f', 3),
      check('/g|h', 4),
      check('/i\\j', 5),
      check('/k"l', 6),
      check('/ ', 7),
      check('/m~0n', 8),
    ],
    is(oddNames),
  ],
  ['what any object inherits is not there', {}, [remove('/toString')], missing],
  ['nor is its constructor', { a: {} }, [add('/a/constructor/prototype/x', 1)], missing],
  ['no key gets a backslash', {}, [add('/a\\b', 1)], fails(/no keys with a backslash/)],
];

const moving: readonly Row[] = [
  ['to the same place', { a: 1 }, [move('/a', '/a')], is({ a: 1 })],
  ['to another name', { a: 1, l: [{ x: 'y' }] }, [move('/a', '/b')], is({ l: [{ x: 'y' }], b: 1 })],
  [
    'out of an item into the list',
    { l: [{ x: 'y' }], b: 1 },
    [move('/l/0/x', '/l/1')],
    is({ l: [{}, 'y'], b: 1 }),
  ],
  [
    'between objects',
    { a: { x: 1, y: 2 }, b: { z: 3 } },
    [move('/a/y', '/b/w')],
    is({ a: { x: 1 }, b: { z: 3, w: 2 } }),
  ],
  [
    'within a list: the target counts without it',
    { l: [1, 2, 3, 4] },
    [move('/l/1', '/l/3')],
    is({ l: [1, 3, 4, 2] }),
  ],
  ['null', { a: null }, [move('/a', '/b')], is({ b: null })],
  ['over what is there', { a: 1, b: 2 }, [move('/a', '/b')], is({ b: 1 })],
  ['up, over the parent', { a: { b: { c: 1 } } }, [move('/a/b', '/a')], is({ a: { c: 1 } })],
  ['nothing from a bad index', { a: 1, l: [1, 2] }, [move('/l/1e0', '/a')], noIndex],
  ['nothing that is not there', { a: 1 }, [move('/b', '/a')], missing],
  ['not to itself when it is not there', { a: 1 }, [move('/b', '/b')], missing],
  [
    'not into itself',
    { a: { b: {} } },
    [move('/a', '/a/b/c')],
    fails(/cannot be moved into itself, from \/a/),
  ],
  ['but beside a longer name', { a: 1, ab: {} }, [move('/a', '/ab/c')], is({ ab: { c: 1 } })],
];

const boo = { o: { list: [{ x: 'old' }] } };
const copying: readonly Row[] = [
  ['an item', { l: [{ x: 'y' }], b: 1 }, [copy('/l/0', '/c')], is({ l: [{ x: 'y' }], b: 1, c: { x: 'y' } })],
  ['null', { a: null }, [copy('/a', '/b')], is({ a: null, b: null })],
  ['into itself', { a: { b: 1 } }, [copy('/a', '/a/c')], is({ a: { b: 1, c: { b: 1 } } })],
  ['to the end of the same list', [1, 2], [copy('/0', '/-')], is([1, 2, 1])],
  ['nothing from a bad index', { l: [1, 2, 3], b: 1 }, [copy('/l/1e0', '/c')], noIndex],
  ['nothing that is not there', { a: 1 }, [copy('/b', '/a')], missing],
  [
    'the copy is changed apart',
    boo,
    [copy('/o', '/p'), replace('/p/list/0/x', 'new')],
    is({ ...boo, p: { list: [{ x: 'new' }] } }),
  ],
  [
    'and so is what it was copied from',
    boo,
    [copy('/o', '/p'), replace('/o/list/0/x', 'new')],
    is({ p: boo.o, o: { list: [{ x: 'new' }] } }),
  ],
];

const badPatches: readonly Row[] = [
  ['a path is needed', {}, [{ op: 'add', value: 'a' }], malformed(/add needs a path/)],
  ['null is no path', {}, [{ op: 'add', path: null, value: 'a' }], malformed(/not null/)],
  ['a number is no path', {}, [{ op: 'add', path: 7, value: 'a' }], malformed(/not a number/)],
  ['a path begins with a slash', {}, [add('a', 'b')], malformed(/not "a"/)],
  ['a tilde stands before 0 or 1', {}, [add('/a~2b', 1)], malformed(/JSON Pointer/)],
  ['a tilde does not stand last', {}, [add('/a~', 1)], malformed(/JSON Pointer/)],
  ['add needs a value', [1], [{ op: 'add', path: '/-' }], malformed(/add \/- needs a value/)],
  ['replace needs a value', [1], [{ op: 'replace', path: '/0' }], malformed(/needs a value/)],
  ['test needs a value', [null], [{ op: 'test', path: '/0' }], malformed(/needs a value/)],
  ['also where false stands', [false], [{ op: 'test', path: '/0' }], malformed(/needs a value/)],
  ['copy needs a from', [1], [{ op: 'copy', path: '/-' }], malformed(/copy needs a from/)],
  ['move needs a from', { a: 1 }, [{ op: 'move', path: '' }], malformed(/move needs a from/)],
  [
    'there are six operations',
    { a: 1 },
    [{ op: 'spam', path: '/a', value: 1 }],
    malformed(/op must be one of add, copy/),
  ],
  ['op is a text', { a: 1 }, [{ op: ['add'], path: '/a', value: 1 }], malformed(/op must be/)],
  ['a bad last step spoils all', {}, [add('/a', 1), { op: 'add', path: '/b' }], malformed(/^operation 1: /)],
];

export const jsonPatchCases: Readonly<Record<string, readonly Case[]>> = {
  'the whole document': cases(whole),
  add: cases(adding),
  remove: cases(removing),
  replace: cases(replacing),
  test: cases(testing),
  names: cases(naming),
  move: cases(moving),
  copy: cases(copying),
  'no patch at all': cases(badPatches),
};

function cases(rows: readonly Row[]): Case[] {
  return rows.map(([about, document, patch, result]) => ({ about, document, patch, result }));
}
