import type { Rule } from './case.ts';
import { containers, failed, gone, malformed, named } from './case.ts';

const uid = (value: string, rest: object = {}) => ({ uid: value, ...rest });

export const keyedListDirectives: readonly Rule[] = [
  {
    rule: '$patch: delete in an item deletes it',
    cases: [
      {
        name: 'one of two',
        given: containers(...named('web', 'log')),
        patch: containers(gone('log')),
        gives: containers({ name: 'web' }),
      },
      {
        name: 'all, and leaves an empty list',
        given: containers(...named('web', 'log')),
        patch: containers(gone('log'), gone('web')),
        gives: containers(),
      },
      {
        name: 'none, when no item has the key',
        given: containers(...named('web')),
        patch: containers(gone('log')),
        gives: containers(...named('web')),
      },
      {
        name: 'every item of that key, when a list has it twice',
        kind: 'Node',
        given: {
          status: {
            addresses: [
              { type: 'InternalIP', address: '10.0.0.1' },
              { type: 'Hostname', address: 'n1' },
              { type: 'InternalIP', address: 'fd00::1' },
            ],
          },
        },
        patch: { status: { addresses: [{ type: 'InternalIP', $patch: 'delete' }] } },
        gives: { status: { addresses: [{ type: 'Hostname', address: 'n1' }] } },
      },
      {
        name: 'beside items that are changed and added',
        given: containers(...named('web', 'log', 'old')),
        patch: containers(gone('old'), { name: 'web', image: 'a' }, { name: 'new' }),
        gives: containers({ name: 'web', image: 'a' }, { name: 'new' }, { name: 'log' }),
      },
      {
        name: 'first, so that an item of the same patch with that key is a new one',
        given: containers({ name: 'web', image: 'a', tty: true }),
        patch: containers({ name: 'web', image: 'b' }, gone('web')),
        gives: containers({ name: 'web', image: 'b' }),
      },
      {
        name: 'an owner',
        given: { metadata: { ownerReferences: [uid('1'), uid('2')] } },
        patch: { metadata: { ownerReferences: [uid('1', { $patch: 'delete' })] } },
        gives: { metadata: { ownerReferences: [uid('2')] } },
      },
      {
        name: 'in a list inside an item',
        given: containers({ name: 'web', env: named('A', 'B') }),
        patch: containers({ name: 'web', env: [gone('A')] }),
        gives: containers({ name: 'web', env: named('B') }),
      },
      {
        name: 'nothing of a list that is not there: nothing but an empty list comes of it',
        given: { spec: { nodeName: 'n1' } },
        patch: { spec: { volumes: [gone('tmp')] } },
        gives: { spec: { nodeName: 'n1', volumes: [] } },
      },
      {
        name: 'nothing beside what is new, when the list is not there',
        given: { spec: {} },
        patch: { spec: { volumes: [gone('tmp'), { name: 'new' }] } },
        gives: { spec: { volumes: named('new') } },
      },
    ],
  },
  {
    rule: '$patch: replace as an item replaces the list',
    cases: [
      {
        name: 'with the other items of the patch',
        given: containers(...named('web', 'log')),
        patch: containers({ $patch: 'replace' }, ...named('new')),
        gives: containers(...named('new')),
      },
      {
        name: 'wherever it stands among them',
        given: containers(...named('web', 'log')),
        patch: containers(...named('b'), { $patch: 'replace' }, ...named('a')),
        gives: containers(...named('b', 'a')),
      },
      {
        name: 'with nothing, when it is alone',
        given: containers(...named('web', 'log')),
        patch: containers({ $patch: 'replace' }),
        gives: containers(),
      },
      {
        name: 'without the fields that stand beside it',
        given: containers(...named('web')),
        patch: containers({ $patch: 'replace', name: 'lost' }, { name: 'new' }),
        gives: containers(...named('new')),
      },
      {
        name: 'and nothing is merged: an item with a known key is a new one',
        given: containers({ name: 'web', image: 'a', tty: true }),
        patch: containers({ $patch: 'replace' }, { name: 'web', image: 'b' }),
        gives: containers({ name: 'web', image: 'b' }),
      },
      {
        name: 'and what shall be deleted is gone anyway',
        given: containers(...named('web', 'log')),
        patch: containers({ $patch: 'replace' }, gone('web'), { name: 'new' }),
        gives: containers(...named('new')),
      },
    ],
  },
  {
    rule: 'items of a keyed list must have the key',
    cases: [
      {
        name: 'one without a name',
        given: containers(...named('web')),
        patch: containers({ name: 'log' }, { image: 'a' }),
        refused: malformed('spec.containers[1]: it has no name, by which these items are told apart'),
      },
      {
        name: 'one to be deleted without a name',
        given: containers(...named('web')),
        patch: containers({ image: 'a', $patch: 'delete' }),
        refused: malformed('spec.containers[0]: it has no name, by which these items are told apart'),
      },
      {
        name: 'one with the second field of the key only',
        given: containers({ name: 'dns', ports: [{ containerPort: 53 }] }),
        patch: containers({ name: 'dns', ports: [{ protocol: 'UDP' }] }),
        refused: malformed(
          'spec.containers[0].ports[0]: it has no containerPort, by which these items are told apart',
        ),
      },
      {
        name: 'a key that is an object',
        given: containers(...named('web')),
        patch: containers({ name: {} }),
        refused: malformed(
          'spec.containers[0].name: items are told apart by it, so it can be no object or list',
        ),
      },
      {
        name: 'text where objects stand',
        given: containers(),
        patch: containers('web'),
        refused: malformed('spec.containers[0]: expected an object, found a string'),
      },
      {
        name: 'objects and text in one list',
        given: containers(...named('web')),
        patch: containers({ name: 'web' }, 'log'),
        refused: malformed('spec.containers[1]: expected an object like the items before it, found a string'),
      },
      {
        name: 'text, where the object has objects',
        given: containers(...named('web')),
        patch: containers('web'),
        refused: failed('spec.containers: a string cannot be merged into a list that has an object'),
      },
      {
        name: 'a null',
        given: containers(...named('web')),
        patch: containers(null),
        refused: malformed('spec.containers[0]: a list that is merged holds no null'),
      },
      {
        name: 'an item of the object that has none: then nothing can be merged with the list',
        given: { spec: { imagePullSecrets: [{}] } },
        patch: { spec: { imagePullSecrets: named('registry') } },
        refused: failed(
          'spec.imagePullSecrets: an item of the object has no name, by which these items are told apart',
        ),
      },
      {
        name: 'an item of the object that has none does not keep the list from being replaced',
        given: { spec: { imagePullSecrets: [{}] } },
        patch: { spec: { imagePullSecrets: [{ $patch: 'replace' }, { name: 'registry' }] } },
        gives: { spec: { imagePullSecrets: named('registry') } },
      },
      {
        name: 'a list as an item',
        given: containers(...named('web')),
        patch: containers([]),
        refused: failed('spec.containers[0]: lists of lists cannot be merged'),
      },
    ],
  },
];
