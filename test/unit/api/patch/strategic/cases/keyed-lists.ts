import type { Rule } from './case.ts';
import { containers, named } from './case.ts';

const uid = (value: string, rest: object = {}) => ({ uid: value, ...rest });

export const keyedLists: readonly Rule[] = [
  {
    rule: 'items with the same key are merged',
    cases: [
      {
        name: 'one container gets another image',
        given: containers({ name: 'web', image: 'a' }, { name: 'log', image: 'b' }),
        patch: containers({ name: 'web', image: 'c' }),
        gives: containers({ name: 'web', image: 'c' }, { name: 'log', image: 'b' }),
      },
      {
        name: 'what the patch does not say of an item stays',
        given: containers({ name: 'web', image: 'a', workingDir: '/' }),
        patch: containers({ name: 'web', image: 'b' }),
        gives: containers({ name: 'web', image: 'b', workingDir: '/' }),
      },
      {
        name: 'an item of the key alone changes nothing',
        given: containers({ name: 'web', image: 'a' }),
        patch: containers({ name: 'web' }),
        gives: containers({ name: 'web', image: 'a' }),
      },
      {
        name: 'an empty list changes nothing',
        given: containers({ name: 'web' }),
        patch: containers(),
        gives: containers({ name: 'web' }),
      },
      {
        name: 'both lists are empty',
        given: containers(),
        patch: containers(),
        gives: containers(),
      },
      {
        name: 'lists in items are merged by a key of their own',
        given: containers({
          name: 'web',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '2' },
          ],
        }),
        patch: containers({ name: 'web', env: [{ name: 'B', value: '3' }] }),
        // named items stand behind those that were before them
        gives: containers({
          name: 'web',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '3' },
          ],
        }),
      },
      {
        name: 'a list in an item that has no key is replaced',
        given: containers({ name: 'web', args: ['-v', '-x'] }),
        patch: containers({ name: 'web', args: ['-q'] }),
        gives: containers({ name: 'web', args: ['-q'] }),
      },
      {
        name: 'owners are told apart by uid',
        given: { metadata: { ownerReferences: [uid('1', { name: 'a' }), uid('2', { name: 'b' })] } },
        patch: { metadata: { ownerReferences: [uid('2', { controller: true })] } },
        gives: {
          metadata: { ownerReferences: [uid('1', { name: 'a' }), uid('2', { name: 'b', controller: true })] },
        },
      },
      {
        name: 'conditions of a node are told apart by type',
        kind: 'Node',
        given: { status: { conditions: [{ type: 'Ready', status: 'False' }] } },
        patch: { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Fine' }] } },
        gives: { status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Fine' }] } },
      },
      {
        name: 'addresses of a node, of which there may be two of a type: the first changes',
        kind: 'Node',
        given: {
          status: {
            addresses: [
              { type: 'InternalIP', address: '10.0.0.1' },
              { type: 'InternalIP', address: 'fd00::1' },
            ],
          },
        },
        patch: { status: { addresses: [{ type: 'InternalIP', address: '10.0.0.2' }] } },
        gives: {
          status: {
            addresses: [
              { type: 'InternalIP', address: '10.0.0.2' },
              { type: 'InternalIP', address: 'fd00::1' },
            ],
          },
        },
      },
      {
        name: 'secrets of a service account are told apart by name',
        kind: 'ServiceAccount',
        given: { secrets: [{ name: 'token' }] },
        patch: { secrets: [{ name: 'token', namespace: 'default' }] },
        gives: { secrets: [{ name: 'token', namespace: 'default' }] },
      },
      {
        name: 'a list that apply replaces merges here: addresses of the host',
        given: { status: { hostIPs: [{ ip: '10.0.0.1' }] } },
        patch: { status: { hostIPs: [{ ip: 'fd00::1' }] } },
        gives: { status: { hostIPs: [{ ip: 'fd00::1' }, { ip: '10.0.0.1' }] } },
      },
      {
        name: 'two items of a patch with one key are both merged, one after the other',
        given: containers({ name: 'web', image: 'a' }),
        patch: containers({ name: 'web', image: 'b' }, { name: 'web', tty: true }),
        gives: containers({ name: 'web', image: 'b', tty: true }),
      },
      {
        name: 'keys that look alike are not the same: 80 is a number, "80" a text',
        given: containers({ name: 'web', ports: [{ containerPort: 80 }] }),
        patch: containers({ name: 'web', ports: [{ containerPort: '80' }] }),
        gives: containers({ name: 'web', ports: [{ containerPort: '80' }, { containerPort: 80 }] }),
      },
    ],
  },
  {
    rule: 'of a key made of several fields only the first tells items apart',
    cases: [
      {
        name: 'a port of another protocol with the same number changes the one that is there',
        given: containers({ name: 'dns', ports: [{ containerPort: 53, protocol: 'TCP' }] }),
        patch: containers({ name: 'dns', ports: [{ containerPort: 53, protocol: 'UDP' }] }),
        gives: containers({ name: 'dns', ports: [{ containerPort: 53, protocol: 'UDP' }] }),
      },
      {
        name: 'of two ports with one number the first is changed',
        given: containers({
          name: 'dns',
          ports: [
            { containerPort: 53, protocol: 'TCP' },
            { containerPort: 53, protocol: 'UDP' },
          ],
        }),
        patch: containers({ name: 'dns', ports: [{ containerPort: 53, protocol: 'UDP', name: 'dns' }] }),
        gives: containers({
          name: 'dns',
          ports: [
            { containerPort: 53, protocol: 'UDP', name: 'dns' },
            { containerPort: 53, protocol: 'UDP' },
          ],
        }),
      },
      {
        name: 'both ports of one number are deleted',
        given: containers({
          name: 'dns',
          ports: [
            { containerPort: 53, protocol: 'TCP' },
            { containerPort: 53, protocol: 'UDP' },
            { containerPort: 80, protocol: 'TCP' },
          ],
        }),
        patch: containers({
          name: 'dns',
          ports: [{ containerPort: 53, protocol: 'UDP', $patch: 'delete' }],
        }),
        gives: containers({ name: 'dns', ports: [{ containerPort: 80, protocol: 'TCP' }] }),
      },
      {
        name: 'two new ports with one number become one',
        given: containers({ name: 'dns', ports: [{ containerPort: 80 }] }),
        patch: containers({
          name: 'dns',
          ports: [
            { containerPort: 53, protocol: 'TCP' },
            { containerPort: 53, protocol: 'UDP' },
          ],
        }),
        gives: containers({
          name: 'dns',
          ports: [{ containerPort: 53, protocol: 'UDP' }, { containerPort: 80 }],
        }),
      },
      {
        name: 'spread constraints are told apart by topologyKey, whatever they do when it cannot be had',
        given: {
          spec: {
            topologySpreadConstraints: [
              { topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule', maxSkew: 1 },
            ],
          },
        },
        patch: {
          spec: { topologySpreadConstraints: [{ topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }] },
        },
        gives: {
          spec: {
            topologySpreadConstraints: [
              { topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway', maxSkew: 1 },
            ],
          },
        },
      },
    ],
  },
  {
    rule: 'an item with a new key is added',
    cases: [
      {
        name: 'before those that only the object has',
        given: containers(...named('web', 'log')),
        patch: containers({ name: 'new', image: 'a' }),
        gives: containers({ name: 'new', image: 'a' }, ...named('web', 'log')),
      },
      {
        name: 'to an empty list',
        given: containers(),
        patch: containers(...named('a', 'b')),
        gives: containers(...named('a', 'b')),
      },
      {
        name: 'with the list, where there was none',
        given: { spec: {} },
        patch: { spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } },
        gives: { spec: { volumes: [{ name: 'tmp', emptyDir: {} }] } },
      },
      {
        name: 'as it is, nulls included: for the decoder they are absent',
        given: containers({ name: 'web' }),
        patch: containers({ name: 'new', image: null }),
        gives: containers({ name: 'new', image: null }, { name: 'web' }),
      },
      {
        name: 'to another list of the same pod, and not to this one',
        given: { spec: { containers: named('web'), initContainers: named('setup') } },
        patch: { spec: { initContainers: named('web') } },
        gives: { spec: { containers: named('web'), initContainers: named('web', 'setup') } },
      },
    ],
  },
];
