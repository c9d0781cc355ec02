import type { Rule } from './case.ts';
import { containers, malformed, named, ordered } from './case.ts';

const finalizers = (...values: unknown[]) => ({ metadata: { finalizers: values } });

const orderedFinalizers = (order: unknown[], ...values: unknown[]) => ({
  metadata: { '$setElementOrder/finalizers': order, ...(values.length && { finalizers: values }) },
});

export const orderOfScalars: readonly Rule[] = [
  {
    rule: '$setElementOrder gives the order of scalars',
    cases: [
      {
        name: 'without a change of any',
        given: finalizers('a', 'b', 'c'),
        patch: orderedFinalizers(['c', 'a', 'b']),
        gives: finalizers('c', 'a', 'b'),
      },
      {
        name: 'with a new one',
        given: finalizers('a', 'b'),
        patch: orderedFinalizers(['new', 'b', 'a'], 'new'),
        gives: finalizers('new', 'b', 'a'),
      },
      {
        name: 'with some that only the object has',
        given: finalizers('own', 'a', 'b', 'more'),
        patch: orderedFinalizers(['b', 'a']),
        gives: finalizers('own', 'b', 'a', 'more'),
      },
      {
        name: 'values that the object has twice come together, when nothing is merged',
        given: finalizers('a', 'b', 'a'),
        patch: orderedFinalizers(['a', 'b']),
        gives: finalizers('a', 'a', 'b'),
      },
      {
        name: 'while values are taken away',
        given: finalizers('a', 'b', 'c'),
        patch: {
          metadata: {
            '$setElementOrder/finalizers': ['c', 'new', 'a'],
            '$deleteFromPrimitiveList/finalizers': ['b'],
            finalizers: ['new'],
          },
        },
        gives: finalizers('c', 'new', 'a'),
      },
      {
        name: 'of a list that is replaced',
        given: { spec: { containers: [{ name: 'web', args: ['a', 'b'] }] } },
        patch: { spec: { containers: [{ name: 'web', '$setElementOrder/args': ['b', 'a'] }] } },
        gives: { spec: { containers: [{ name: 'web', args: ['b', 'a'] }] } },
      },
    ],
  },
  {
    rule: '$setElementOrder must fit the patch',
    cases: [
      {
        name: 'it names all that the patch changes or adds',
        given: containers(...named('a')),
        patch: ordered(['a'], ...named('a', 'new')),
        refused: malformed('spec.containers[1]: missing in $setElementOrder, or in another order there'),
      },
      {
        name: 'in the order of the patch',
        given: containers(...named('a', 'b')),
        patch: ordered(['a', 'b'], ...named('b', 'a')),
        refused: malformed('spec.containers[1]: missing in $setElementOrder, or in another order there'),
      },
      {
        name: 'for scalars too',
        given: finalizers('a'),
        patch: orderedFinalizers(['a'], 'b'),
        refused: malformed('metadata.finalizers[0]: missing in $setElementOrder, or in another order there'),
      },
      {
        name: 'it is a list',
        given: containers(...named('a')),
        patch: { spec: { '$setElementOrder/containers': { name: 'a' } } },
        refused: malformed('spec.$setElementOrder/containers: expected a list, found an object'),
      },
      {
        name: 'its items have the key',
        given: containers(...named('a')),
        patch: { spec: { '$setElementOrder/containers': [{ image: 'a' }] } },
        refused: malformed(
          'spec.$setElementOrder/containers[0]: it has no name, by which these items are told apart',
        ),
      },
      {
        name: 'its items are objects where the items are',
        given: containers(...named('a')),
        patch: { spec: { '$setElementOrder/containers': ['a'] } },
        refused: malformed('spec.$setElementOrder/containers[0]: expected an object, found a string'),
      },
      {
        name: 'its items are scalars where the items are',
        given: finalizers('a'),
        patch: orderedFinalizers([{ name: 'a' }]),
        refused: malformed(
          'metadata.$setElementOrder/finalizers[0]: only scalars can be put in order here, found an object',
        ),
      },
      {
        name: 'objects without a key have no order that could be named',
        given: { spec: { tolerations: [{ key: 'a' }] } },
        patch: { spec: { '$setElementOrder/tolerations': [{ key: 'a' }] } },
        refused: malformed(
          'spec.$setElementOrder/tolerations[0]: only scalars can be put in order here, found an object',
        ),
      },
      {
        name: 'it stands beside a list, or beside nothing',
        given: containers(...named('a')),
        patch: { spec: { '$setElementOrder/containers': named('a'), containers: null } },
        refused: malformed('spec.containers: expected a list, found null'),
      },
      {
        name: 'it names a list',
        given: containers(...named('a')),
        patch: { spec: { '$setElementOrder/nodeName': ['a'] } },
        refused: malformed('spec.$setElementOrder/nodeName: no list has this name'),
      },
      {
        name: 'it names a list that there is',
        given: containers(...named('a')),
        patch: { spec: { '$setElementOrder/container': named('a') } },
        refused: malformed('spec.$setElementOrder/container: no list has this name'),
      },
      {
        name: 'it names something',
        given: containers(...named('a')),
        patch: { spec: { $setElementOrder: named('a') } },
        refused: malformed('spec.$setElementOrder: expected $setElementOrder/ and the name of a list'),
      },
    ],
  },
];
