import { tell } from './story.ts';
import { node, pod } from './subjects.ts';

/*
 * What a write cannot change it does not own, whoever asks for it: a path that stands for something else, a rule of the
 * kind or a feature that is off takes it away, and its owner keeps it.
 */

const image = (name: string) => `spec: {containers: [{name: main, image: "${name}"}]}`;
const debug = 'ephemeralContainers: [{name: debug, image: "debug:1"}]';
const imageFields = ['.spec.containers[name=main].image', '.spec.containers[name=main].name'];
const debugFields = [
  '.spec.ephemeralContainers[name=debug].image',
  '.spec.ephemeralContainers[name=debug].name',
];
const gated = `spec: {containers: [
  {name: main, image: "app:1", resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]}]}`;

await tell('a path of its own for ephemeral containers', pod, {
  'changes nothing of the metadata, and nothing else of the spec': [
    { by: 'A', applies: image('app:1') },
    {
      by: 'B',
      through: 'ephemeralcontainers',
      'merge-patches': `{metadata: {labels: {app: b}, annotations: {a: b}, finalizers: [b/c],
        ownerReferences: [{apiVersion: v1, kind: Node, name: n, uid: u}]}, spec: {nodeName: n, ${debug}}}`,
      ends: 'changed',
      object: 'metadata: {labels: null, annotations: null, finalizers: null, ownerReferences: null}',
      owners: {
        A: imageFields,
        'B updates through ephemeralcontainers': [
          ...debugFields,
          '.spec.ephemeralContainers[name=debug].imagePullPolicy',
          '.spec.ephemeralContainers[name=debug].resources',
          '.spec.ephemeralContainers[name=debug].terminationMessagePath',
          '.spec.ephemeralContainers[name=debug].terminationMessagePolicy',
        ].sort(),
      },
    },
    { by: 'B', through: 'ephemeralcontainers', replaces: 'metadata: {labels: {app: b}}', ends: 'unchanged' },
    {
      by: 'B',
      through: 'ephemeralcontainers',
      'json-patches': '[{op: add, path: /metadata/labels, value: {app: b}}]',
      ends: 'unchanged',
    },
    {
      by: 'B',
      through: 'ephemeralcontainers',
      'strategically patches': 'metadata: {finalizers: [b/c]}',
      ends: 'unchanged',
    },
  ],
  'takes no field from its owner, by force or without': [
    { by: 'owner', applies: `{metadata: {labels: {app: a}}, ${image('app:1')}}` },
    ...[{}, { force: true } as const].map((how) => ({
      ...how,
      by: 'thief',
      through: 'ephemeralcontainers',
      applies: `{metadata: {labels: {app: b}}, ${image('evil:1')}}`,
      ends: 'unchanged' as const,
      owners: { owner: ['.metadata.labels.app', ...imageFields] },
    })),
    {
      by: 'thief',
      through: 'ephemeralcontainers',
      force: true,
      applies: `spec: {containers: [{name: main, image: "evil:1"}], ${debug}}`,
      ends: 'changed',
      owners: {
        owner: ['.metadata.labels.app', ...imageFields],
        'thief through ephemeralcontainers': debugFields,
      },
    },
  ],
});

await tell('what is taken away from a configuration', pod, {
  'the owners of a pod do not change through its status, and are not owned there': [
    { by: 'A', applies: image('app:1') },
    {
      by: 'B',
      through: 'status',
      applies: `{metadata: {labels: {app: b}, ownerReferences: [{apiVersion: v1, kind: Node, name: n, uid: u}]},
        status: {phase: Running}}`,
      ends: 'changed',
      object: 'metadata: {labels: {app: b}, ownerReferences: null}',
      owners: { A: imageFields, 'B through status': ['.metadata.labels.app', '.status.phase'] },
    },
  ],
  'a field whose feature is off is not owned': [
    {
      by: 'A',
      applies: gated,
      ends: 'created',
      owners: { A: imageFields },
    },
    {
      by: 'A',
      applies: gated,
      ends: 'unchanged',
      owners: { A: imageFields },
    },
  ],
  'a name that is there was not made of a prefix': [
    { by: 'A', applies: image('app:1') },
    {
      by: 'B',
      applies: 'metadata: {generateName: b-, labels: {app: b}}',
      ends: 'changed',
      object: 'metadata: {generateName: null}',
      owners: { A: imageFields, B: ['.metadata.labels.app'] },
    },
  ],
  'an address that the server takes off the list is nobody’s': [
    { by: 'A', applies: image('app:1') },
    { by: 'B', through: 'status', applies: 'status: {podIPs: [{ip: 10.0.0.2}]}' },
    {
      by: 'C',
      through: 'status',
      force: true,
      applies: 'status: {podIP: 10.0.0.1}',
      object: 'status: {phase: Pending, qosClass: BestEffort, podIP: 10.0.0.1, podIPs: [{ip: 10.0.0.1}]}',
      owners: { A: imageFields, 'C through status': ['.status.podIP'] },
    },
  ],
});

await tell('the status of a node', node, {
  'changes labels and finalizers too, as in the reference': [
    { by: 'A', applies: '{}' },
    {
      by: 'B',
      through: 'status',
      applies: '{metadata: {labels: {a: b}, finalizers: [b/c]}, status: {phase: Running}}',
      object: '{metadata: {labels: {a: b}, finalizers: [b/c]}, status: {phase: Running}}',
      owners: {
        'B through status': ['.metadata.finalizers[b/c]', '.metadata.labels.a', '.status.phase'],
      },
    },
  ],
});
