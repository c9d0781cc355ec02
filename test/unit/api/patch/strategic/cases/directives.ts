import type { Rule } from './case.ts';
import { containers, malformed, named } from './case.ts';

export const directives: readonly Rule[] = [
  {
    rule: '$patch: replace in an object replaces it',
    cases: [
      {
        name: 'a map',
        given: { metadata: { labels: { app: 'web', tier: 'front' } } },
        patch: { metadata: { labels: { $patch: 'replace', app: 'db' } } },
        gives: { metadata: { labels: { app: 'db' } } },
      },
      {
        name: 'a struct',
        given: { spec: { securityContext: { runAsUser: 1, fsGroup: 2 } } },
        patch: { spec: { securityContext: { $patch: 'replace', fsGroup: 3 } } },
        gives: { spec: { securityContext: { fsGroup: 3 } } },
      },
      {
        name: 'by nothing',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $patch: 'replace' } } },
        gives: { metadata: { labels: {} } },
      },
      {
        name: 'the whole object',
        given: { metadata: { name: 'web' }, spec: { nodeName: 'n1' } },
        patch: { $patch: 'replace', metadata: { name: 'web' } },
        gives: { metadata: { name: 'web' } },
      },
      {
        name: 'with what it holds, as it is: nothing in there is merged or looked at',
        given: { spec: { nodeName: 'n1', containers: named('a') } },
        patch: { spec: { $patch: 'replace', containers: named('b'), hostname: null } },
        gives: { spec: { containers: named('b'), hostname: null } },
      },
      {
        name: 'a struct that is not there is an empty one',
        given: { spec: { containers: named('web') } },
        patch: containers({ name: 'web', resources: { $patch: 'replace', limits: { cpu: '1' } } }),
        gives: containers({ name: 'web', resources: { limits: { cpu: '1' } } }),
      },
      {
        name: 'a map that is not there cannot be replaced, and is not made',
        given: { metadata: { name: 'web' } },
        patch: { metadata: { labels: { $patch: 'replace', app: 'db' } } },
        gives: { metadata: { name: 'web' } },
      },
    ],
  },
  {
    rule: '$patch: delete in an object empties it',
    cases: [
      {
        name: 'a map',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $patch: 'delete' } } },
        gives: { metadata: { labels: {} } },
      },
      {
        name: 'and what else the patch says of it is not looked at',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $patch: 'delete', tier: 'front' } } },
        gives: { metadata: { labels: {} } },
      },
      {
        name: 'the whole object',
        given: { metadata: { name: 'web' } },
        patch: { $patch: 'delete' },
        gives: {},
      },
      {
        name: 'and makes nothing where there is nothing',
        given: { spec: {} },
        patch: { spec: { securityContext: { $patch: 'delete' }, nodeSelector: { $patch: 'delete' } } },
        gives: { spec: {} },
      },
      {
        name: 'and makes nothing inside something new',
        given: { extra: {} },
        patch: { extra: { a: { b: { $patch: 'delete' }, c: 1 } } },
        gives: { extra: { a: { c: 1 } } },
      },
    ],
  },
  {
    rule: '$retainKeys keeps the members that it names, and no others',
    cases: [
      {
        name: 'a volume changes its source',
        given: { spec: { volumes: [{ name: 'data', emptyDir: {} }] } },
        patch: {
          spec: { volumes: [{ name: 'data', $retainKeys: ['name', 'hostPath'], hostPath: { path: '/d' } }] },
        },
        gives: { spec: { volumes: [{ name: 'data', hostPath: { path: '/d' } }] } },
      },
      {
        name: 'a member that stays is merged',
        given: {
          spec: { volumes: [{ name: 'data', secret: { secretName: 'a', optional: true }, nfs: {} }] },
        },
        patch: {
          spec: {
            volumes: [{ name: 'data', $retainKeys: ['name', 'secret'], secret: { secretName: 'b' } }],
          },
        },
        gives: { spec: { volumes: [{ name: 'data', secret: { secretName: 'b', optional: true } }] } },
      },
      {
        name: 'a member that it names and the patch does not set stays as it is',
        given: { metadata: { labels: { app: 'web', tier: 'front' } } },
        patch: { metadata: { labels: { $retainKeys: ['app'] } } },
        gives: { metadata: { labels: { app: 'web' } } },
      },
      {
        name: 'a member that it names and nobody has is not made',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $retainKeys: ['app', 'tier'] } } },
        gives: { metadata: { labels: { app: 'web' } } },
      },
      {
        name: 'it works in any object, whatever is said of its type',
        kind: 'Node',
        given: { spec: { podCIDR: '10.0.0.0/24', unschedulable: true } },
        patch: { spec: { $retainKeys: ['podCIDR'] } },
        gives: { spec: { podCIDR: '10.0.0.0/24' } },
      },
      {
        name: 'none at all empties the object',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $retainKeys: [] } } },
        gives: { metadata: { labels: {} } },
      },
      {
        name: 'a member that the patch takes away need not be named',
        given: { metadata: { labels: { app: 'web', tier: 'front' } } },
        patch: { metadata: { labels: { $retainKeys: ['app'], tier: null } } },
        gives: { metadata: { labels: { app: 'web' } } },
      },
      {
        name: 'a list that other directives change need not be named',
        given: { metadata: { name: 'web', finalizers: ['a', 'b'] } },
        patch: {
          metadata: { $retainKeys: ['name', 'finalizers'], '$deleteFromPrimitiveList/finalizers': ['a'] },
        },
        gives: { metadata: { name: 'web', finalizers: ['b'] } },
      },
      {
        name: 'a member that the patch sets must be named',
        given: { spec: { volumes: [{ name: 'data', emptyDir: {} }] } },
        patch: { spec: { volumes: [{ name: 'data', $retainKeys: ['name'], hostPath: { path: '/d' } }] } },
        refused: malformed('spec.volumes[0].hostPath: the patch sets it, but $retainKeys does not name it'),
      },
      {
        name: 'the key of an item must be named too',
        given: { spec: { volumes: [{ name: 'data', emptyDir: {} }] } },
        patch: { spec: { volumes: [{ name: 'data', $retainKeys: ['emptyDir'] }] } },
        refused: malformed('spec.volumes[0].name: the patch sets it, but $retainKeys does not name it'),
      },
      {
        name: 'it is a list',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $retainKeys: 'app' } } },
        refused: malformed('metadata.labels.$retainKeys: expected a list, found a string'),
      },
      {
        name: 'of names',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $retainKeys: ['app', 1] } } },
        refused: malformed('metadata.labels.$retainKeys[1]: expected the name of a field, found a number'),
      },
      {
        name: 'in an item that is new it is an unknown field',
        given: { spec: { volumes: named('a') } },
        patch: { spec: { volumes: [{ name: 'b', $retainKeys: ['name'] }] } },
        gives: { spec: { volumes: [{ name: 'b', $retainKeys: ['name'] }, { name: 'a' }] } },
      },
    ],
  },
  {
    rule: 'a $patch that nobody knows is refused',
    cases: [
      {
        name: 'in an object',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $patch: 'remove' } } },
        refused: malformed('metadata.labels.$patch: expected replace or delete, found a string'),
      },
      {
        name: 'in an item',
        given: containers(...named('web')),
        patch: containers({ name: 'web', $patch: 'remove' }),
        refused: malformed('spec.containers[0].$patch: expected replace or delete, found a string'),
      },
      {
        name: 'merge in an object: that is what is done anyway',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $patch: 'merge', tier: 'front' } } },
        refused: malformed(
          'metadata.labels.$patch: expected replace or delete, found merge, which cannot be asked for',
        ),
      },
      {
        name: 'merge in an item',
        given: containers(...named('web')),
        patch: containers({ $patch: 'merge' }),
        refused: malformed(
          'spec.containers[0].$patch: expected replace or delete, found merge, which cannot be asked for',
        ),
      },
      {
        name: 'no text',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { $patch: null } } },
        refused: malformed('metadata.labels.$patch: expected replace or delete, found null'),
      },
      {
        name: 'in something new',
        given: { spec: {} },
        patch: { spec: { nodeSelector: { $patch: 'remove' } } },
        refused: malformed('spec.nodeSelector.$patch: expected replace or delete, found a string'),
      },
      {
        name: 'in the whole',
        given: { spec: {} },
        patch: { $patch: 'remove' },
        refused: malformed('$patch: expected replace or delete, found a string'),
      },
    ],
  },
];
