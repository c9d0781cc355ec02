import type { Rule } from './case.ts';
import { failed, malformed } from './case.ts';

const finalizers = (...values: unknown[]) => ({ metadata: { finalizers: values } });

/** A patch that adds some finalizers, and takes others away. */
const change = (added: unknown[], removed: unknown[]) => ({
  metadata: { finalizers: added, '$deleteFromPrimitiveList/finalizers': removed },
});

/** A patch that only takes finalizers away. */
const without = (...removed: unknown[]) => ({
  metadata: { '$deleteFromPrimitiveList/finalizers': removed },
});

export const scalarLists: readonly Rule[] = [
  {
    rule: 'lists of scalars that merge are sets',
    cases: [
      {
        name: 'a new value is added, before those that only the object has',
        given: finalizers('a', 'b'),
        patch: finalizers('c'),
        gives: finalizers('c', 'a', 'b'),
      },
      {
        name: 'a known value stays once, where it was',
        given: finalizers('a', 'b', 'c'),
        patch: finalizers('b'),
        gives: finalizers('a', 'b', 'c'),
      },
      {
        name: 'a value that the patch has twice is added once',
        given: finalizers('a'),
        patch: finalizers('b', 'b'),
        gives: finalizers('b', 'a'),
      },
      {
        name: 'a value that the object has twice stays once',
        given: finalizers('a', 'b', 'a'),
        patch: finalizers('c'),
        gives: finalizers('c', 'a', 'b'),
      },
      {
        name: 'an empty list changes nothing',
        given: finalizers('a'),
        patch: finalizers(),
        gives: finalizers('a'),
      },
      {
        name: 'the list is added where there was none',
        given: { metadata: { name: 'web' } },
        patch: finalizers('a', 'b'),
        gives: { metadata: { name: 'web', finalizers: ['a', 'b'] } },
      },
      {
        name: 'address ranges of a node merge too',
        kind: 'Node',
        given: { spec: { podCIDRs: ['10.0.0.0/24'] } },
        patch: { spec: { podCIDRs: ['fd00::/64'] } },
        gives: { spec: { podCIDRs: ['fd00::/64', '10.0.0.0/24'] } },
      },
      {
        name: 'a number cannot be merged into text',
        given: finalizers('a'),
        patch: finalizers(1),
        refused: failed('metadata.finalizers: a number cannot be merged into a list that has a string'),
      },
      {
        name: 'text and numbers cannot stand in one list',
        given: finalizers('a'),
        patch: finalizers('b', 1),
        refused: malformed(
          'metadata.finalizers[1]: expected a string like the items before it, found a number',
        ),
      },
      {
        name: 'objects cannot be merged into an empty list of scalars',
        given: finalizers(),
        patch: finalizers({ name: 'a' }),
        refused: malformed('metadata.finalizers[0]: an object in a list of scalars'),
      },
      {
        name: 'lists of lists cannot be merged',
        given: finalizers('a'),
        patch: finalizers(['b']),
        refused: failed('metadata.finalizers[0]: lists of lists cannot be merged'),
      },
    ],
  },
  {
    rule: '$deleteFromPrimitiveList takes values away',
    cases: [
      {
        name: 'one of three, and the others keep their order',
        given: finalizers('a', 'b', 'c'),
        patch: without('b'),
        gives: finalizers('a', 'c'),
      },
      {
        name: 'all, and leaves an empty list',
        given: finalizers('a', 'b'),
        patch: without('b', 'a'),
        gives: finalizers(),
      },
      {
        name: 'each time that it is there',
        given: finalizers('a', 'b', 'a'),
        patch: without('a'),
        gives: finalizers('b'),
      },
      {
        name: 'none, when the list does not have it',
        given: finalizers('a'),
        patch: without('z'),
        gives: finalizers('a'),
      },
      {
        name: 'none, when it names none',
        given: finalizers('a'),
        patch: without(),
        gives: finalizers('a'),
      },
      {
        name: 'none, when there is no list: none is made',
        given: { metadata: { name: 'web' } },
        patch: without('a'),
        gives: { metadata: { name: 'web' } },
      },
      {
        name: 'while others are added',
        given: finalizers('a', 'b'),
        patch: change(['c'], ['a']),
        gives: finalizers('c', 'b'),
      },
      {
        name: 'last: what is added and taken away by one patch is gone',
        given: finalizers('a'),
        patch: change(['b'], ['b']),
        gives: finalizers('a'),
      },
      {
        name: 'from a list that is replaced otherwise, too',
        given: { spec: { containers: [{ name: 'web', args: ['-a', '-b', '-c'] }] } },
        patch: { spec: { containers: [{ name: 'web', '$deleteFromPrimitiveList/args': ['-b'] }] } },
        gives: { spec: { containers: [{ name: 'web', args: ['-a', '-c'] }] } },
      },
      {
        name: 'from an unknown list, too',
        given: { extra: ['a', 'b'] },
        patch: { '$deleteFromPrimitiveList/extra': ['a'] },
        gives: { extra: ['b'] },
      },
      {
        name: 'numbers and text are different values',
        given: { spec: { securityContext: { supplementalGroups: [1, 2] } } },
        patch: { spec: { securityContext: { '$deleteFromPrimitiveList/supplementalGroups': [1, '2'] } } },
        gives: { spec: { securityContext: { supplementalGroups: [2] } } },
      },
      {
        name: 'a null in its place takes the list away',
        given: { metadata: { name: 'web', finalizers: ['a'] } },
        patch: { metadata: { '$deleteFromPrimitiveList/finalizers': null } },
        gives: { metadata: { name: 'web' } },
      },
      {
        name: 'from what is no list nothing is taken',
        given: { metadata: { labels: { a: 'b' } } },
        patch: { metadata: { '$deleteFromPrimitiveList/labels': ['a'] } },
        gives: { metadata: { labels: { a: 'b' } } },
      },
      {
        name: 'its value must be a list',
        given: finalizers('a'),
        patch: { metadata: { '$deleteFromPrimitiveList/finalizers': 'a' } },
        refused: malformed('metadata.$deleteFromPrimitiveList/finalizers: expected a list, found a string'),
      },
      {
        name: 'its values must be scalars',
        given: finalizers('a'),
        patch: without({ name: 'a' }),
        refused: malformed(
          'metadata.$deleteFromPrimitiveList/finalizers[0]: expected a string, a number or a boolean, found an object',
        ),
      },
      {
        name: 'items that are objects are not deleted with it',
        given: { spec: { volumes: [{ name: 'tmp' }] } },
        patch: { spec: { '$deleteFromPrimitiveList/volumes': ['tmp'] } },
        refused: failed(
          'spec.$deleteFromPrimitiveList/volumes: the list holds no scalars: items of it are deleted with $patch: delete',
        ),
      },
      {
        name: 'it must name a list',
        given: finalizers('a'),
        patch: { metadata: { $deleteFromPrimitiveList: ['a'] } },
        refused: malformed(
          'metadata.$deleteFromPrimitiveList: expected $deleteFromPrimitiveList/ and the name of a list',
        ),
      },
      {
        name: 'it must be written as it is',
        given: finalizers('a'),
        patch: { metadata: { '$deleteFromPrimitiveLists/finalizers': ['a'] } },
        refused: malformed(
          'metadata.$deleteFromPrimitiveLists/finalizers: expected $deleteFromPrimitiveList/ and the name of a list',
        ),
      },
    ],
  },
  {
    rule: 'lists of which nothing is said are replaced',
    cases: [
      {
        name: 'taints of a node',
        kind: 'Node',
        given: {
          spec: {
            taints: [
              { key: 'a', effect: 'NoSchedule' },
              { key: 'b', effect: 'NoExecute' },
            ],
          },
        },
        patch: { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } },
        gives: { spec: { taints: [{ key: 'b', effect: 'NoSchedule' }] } },
      },
      {
        name: 'arguments of a container',
        given: { spec: { containers: [{ name: 'web', args: ['-a', '-b'] }] } },
        patch: { spec: { containers: [{ name: 'web', args: ['-c'] }] } },
        gives: { spec: { containers: [{ name: 'web', args: ['-c'] }] } },
      },
      {
        name: 'finalizers of a namespace, other than those of its metadata',
        kind: 'Namespace',
        given: { metadata: { finalizers: ['a/b'] }, spec: { finalizers: ['kubernetes'] } },
        patch: { metadata: { finalizers: ['c/d'] }, spec: { finalizers: ['x/y'] } },
        gives: { metadata: { finalizers: ['c/d', 'a/b'] }, spec: { finalizers: ['x/y'] } },
      },
      {
        name: 'secrets for pulling, which merge in a pod',
        kind: 'ServiceAccount',
        given: { imagePullSecrets: [{ name: 'a' }] },
        patch: { imagePullSecrets: [{ name: 'b' }] },
        gives: { imagePullSecrets: [{ name: 'b' }] },
      },
      {
        name: 'by an empty one',
        given: { spec: { tolerations: [{ key: 'a' }] } },
        patch: { spec: { tolerations: [] } },
        gives: { spec: { tolerations: [] } },
      },
      {
        name: 'whatever is in them: a directive in an item is an unknown field there',
        given: { spec: { tolerations: [{ key: 'a' }] } },
        patch: { spec: { tolerations: [{ key: 'a', $patch: 'delete' }] } },
        gives: { spec: { tolerations: [{ key: 'a', $patch: 'delete' }] } },
      },
      {
        name: 'a list that apply merges by name, but a patch does not',
        kind: 'CertificateSigningRequest',
        given: { status: { conditions: [{ type: 'Approved', status: 'True' }] } },
        patch: { status: { conditions: [{ type: 'Failed', status: 'True' }] } },
        gives: { status: { conditions: [{ type: 'Failed', status: 'True' }] } },
      },
    ],
  },
];
