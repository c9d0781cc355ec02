import type { Rule } from './case.ts';
import { containers, gone, named, ordered } from './case.ts';

const finalizers = (...values: unknown[]) => ({ metadata: { finalizers: values } });

export const elementOrder: readonly Rule[] = [
  {
    rule: 'without $setElementOrder, items of the patch keep their order, and so do the others',
    cases: [
      {
        name: 'known items are put in the order of the patch',
        given: containers(...named('a', 'b', 'c')),
        patch: containers(...named('c', 'a')),
        gives: containers(...named('b', 'c', 'a')),
      },
      {
        name: 'an item that the object has before those of the patch stays before them',
        given: containers(...named('own', 'a', 'b')),
        patch: containers(...named('a', 'b')),
        gives: containers(...named('own', 'a', 'b')),
      },
      {
        name: 'an item that it has behind them stays behind them',
        given: containers(...named('a', 'b', 'own')),
        patch: containers(...named('b', 'a')),
        gives: containers(...named('b', 'a', 'own')),
      },
      {
        name: 'an item that it has between them stays between them',
        given: containers(...named('a', 'own', 'b')),
        patch: containers(...named('a', 'b')),
        gives: containers(...named('a', 'own', 'b')),
      },
      {
        name: 'a new item stands where the patch has it among the known',
        given: containers(...named('a', 'own', 'b')),
        patch: containers(...named('a', 'new', 'b')),
        gives: containers(...named('a', 'new', 'own', 'b')),
      },
      {
        name: 'a new item at the end follows what its predecessor follows',
        given: containers(...named('own', 'a', 'more')),
        patch: containers(...named('a', 'new')),
        gives: containers(...named('own', 'a', 'new', 'more')),
      },
      {
        name: 'items of the same key that the patch names come together',
        kind: 'Node',
        given: {
          status: {
            addresses: [
              { type: 'A', address: '1' },
              { type: 'B', address: '2' },
              { type: 'A', address: '3' },
            ],
          },
        },
        patch: { status: { addresses: [{ type: 'A', address: '4' }] } },
        gives: {
          status: {
            addresses: [
              { type: 'A', address: '4' },
              { type: 'A', address: '3' },
              { type: 'B', address: '2' },
            ],
          },
        },
      },
      {
        name: 'scalars are ordered alike',
        given: finalizers('a', 'own', 'b'),
        patch: finalizers('b', 'a'),
        gives: finalizers('own', 'b', 'a'),
      },
    ],
  },
  {
    rule: '$setElementOrder gives the order of items by key',
    cases: [
      {
        name: 'without a change of any',
        given: containers(...named('a', 'b', 'c')),
        patch: ordered(['c', 'a', 'b']),
        gives: containers(...named('c', 'a', 'b')),
      },
      {
        name: 'with a change of one',
        given: containers(...named('a', 'b')),
        patch: ordered(['b', 'a'], { name: 'a', image: 'x' }),
        gives: containers({ name: 'b' }, { name: 'a', image: 'x' }),
      },
      {
        name: 'a new item stands where the order has it',
        given: containers(...named('a', 'b')),
        patch: ordered(['a', 'new', 'b'], { name: 'new' }),
        gives: containers(...named('a', 'new', 'b')),
      },
      {
        name: 'an item that it does not name keeps its place before the next that it names',
        given: containers(...named('own', 'a', 'b')),
        patch: ordered(['b', 'a']),
        gives: containers(...named('own', 'b', 'a')),
      },
      {
        name: 'an item that it does not name, between two that change places',
        given: containers(...named('a', 'own', 'b')),
        patch: ordered(['b', 'a']),
        gives: containers(...named('own', 'b', 'a')),
      },
      {
        name: 'several that it does not name keep the order that they had',
        given: containers(...named('x', 'a', 'y', 'b', 'z')),
        patch: ordered(['a', 'b']),
        gives: containers(...named('x', 'a', 'y', 'b', 'z')),
      },
      {
        name: 'a name that nobody has is passed over',
        given: containers(...named('a', 'b')),
        patch: ordered(['b', 'lost', 'a']),
        gives: containers(...named('b', 'a')),
      },
      {
        name: 'an item is deleted',
        given: containers(...named('a', 'b', 'own')),
        patch: ordered(['a'], gone('b')),
        gives: containers(...named('a', 'own')),
      },
      {
        name: 'an item takes the place of a deleted one: it stands behind what the server added',
        given: containers(...named('a', 'b', 'own')),
        patch: ordered(['a', 'new'], gone('b'), { name: 'new' }),
        gives: containers(...named('a', 'own', 'new')),
      },
      {
        name: 'an item is only added: it stands before what the server added',
        given: containers(...named('a', 'own')),
        patch: ordered(['a', 'new'], { name: 'new' }),
        gives: containers(...named('a', 'new', 'own')),
      },
      {
        name: 'two take the place of one: both stand behind what the server added',
        given: containers(...named('a', 'b', 'own')),
        patch: ordered(['a', 'one', 'two'], gone('b'), ...named('one', 'two')),
        gives: containers(...named('a', 'own', 'one', 'two')),
      },
      {
        name: 'an order that names all puts all in it',
        given: containers(...named('a', 'b', 'c', 'd')),
        patch: ordered(['d', 'c', 'b', 'a'], { name: 'b', image: 'x' }),
        gives: containers({ name: 'd' }, { name: 'c' }, { name: 'b', image: 'x' }, { name: 'a' }),
      },
      {
        name: 'the list is added in that order where there was none',
        given: { spec: {} },
        patch: {
          spec: { '$setElementOrder/volumes': named('a', 'b'), volumes: [{ name: 'a' }, { name: 'b' }] },
        },
        gives: { spec: { volumes: named('a', 'b') } },
      },
      {
        name: 'the list is added as it is, nulls included: for the decoder they are absent',
        given: containers({ name: 'web' }),
        patch: containers({
          name: 'web',
          '$setElementOrder/env': named('A'),
          env: [{ name: 'A', value: null }],
        }),
        gives: containers({ name: 'web', env: [{ name: 'A', value: null }] }),
      },
      {
        name: 'it makes no list where neither has one',
        given: { spec: { nodeName: 'n1' } },
        patch: { spec: { '$setElementOrder/volumes': named('a') } },
        gives: { spec: { nodeName: 'n1' } },
      },
      {
        name: 'an empty order leaves the order of the object',
        given: containers(...named('b', 'a')),
        patch: ordered([]),
        gives: containers(...named('b', 'a')),
      },
      {
        name: 'an empty order beside an item that is deleted',
        given: containers(...named('a', 'b')),
        patch: ordered([], gone('a')),
        gives: containers(...named('b')),
      },
      {
        name: 'an empty order beside an item that is new puts it at the end',
        given: containers(...named('a', 'b')),
        patch: ordered([], { name: 'new' }),
        gives: containers(...named('a', 'b', 'new')),
      },
      {
        name: 'it may stand in an item, for a list in there',
        given: containers({ name: 'web', env: named('A', 'B') }),
        patch: containers({ name: 'web', '$setElementOrder/env': named('B', 'A') }),
        gives: containers({ name: 'web', env: named('B', 'A') }),
      },
      {
        name: 'more than the key in it is not looked at',
        given: containers(...named('a', 'b')),
        patch: { spec: { '$setElementOrder/containers': [{ name: 'b', image: 'x' }, { name: 'a' }] } },
        gives: containers(...named('b', 'a')),
      },
      {
        name: 'a list replaced by $patch: replace stands in it',
        given: containers(...named('a', 'b')),
        patch: ordered(['d', 'c'], { $patch: 'replace' }, ...named('d', 'c')),
        gives: containers(...named('d', 'c')),
      },
    ],
  },
];
