/** What volumes, claims, classes, attachments and drivers may say, and how they may change. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  csiDriverKind,
  persistentVolumeClaimKind,
  persistentVolumeKind,
  storageClassKind,
  volumeAttachmentKind,
} from '../../../../../src/api/index.ts';
import { causesOf, received } from '../causes-of.ts';

type Case = readonly [sent: object, ...causes: string[]];

const base = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
const volume = (spec: object) => ({ spec: { ...base, ...spec } });
const hostPath = { path: '/data' };
const csi = { driver: 'disk.example.com', volumeHandle: 'a' };
const modes = '"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"';

const volumes: readonly Case[] = [
  [volume({ hostPath })],
  [
    volume({
      csi: { ...csi, nodeStageSecretRef: { name: 'key', namespace: 'storage' } },
      storageClassName: 'fast',
    }),
  ],
  [
    {},
    'spec.accessModes: Required value',
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: {}: supported values: "storage"',
    'spec: Required value: must specify a volume type',
  ],
  [
    volume({ hostPath, accessModes: ['Any'] }),
    `spec.accessModes: Unsupported value: "Any": supported values: ${modes}`,
  ],
  [
    volume({ hostPath, accessModes: ['ReadWriteOncePod', 'ReadWriteMany'] }),
    'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
  ],
  [
    volume({ hostPath, capacity: { storage: '0' } }),
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
  ],
  [
    volume({ hostPath: { path: '/a/../b' } }),
    `spec.hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
  ],
  [
    volume({ hostPath, nfs: { server: 'a', path: '/b' } }),
    'spec.nfs: Forbidden: may not specify more than 1 volume type',
  ],
  [
    volume({ nfs: { server: '', path: 'b' } }),
    'spec.nfs.server: Required value',
    'spec.nfs.path: Invalid value: "b": must be an absolute path',
  ],
  [
    volume({ hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ],
  [
    volume({ hostPath, persistentVolumeReclaimPolicy: 'Keep' }),
    'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
  ],
  [
    volume({ hostPath, volumeMode: 'Tape' }),
    'spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
  ],
  [
    volume({ local: { path: '/disk' } }),
    'spec.nodeAffinity: Required value: Local volume requires node affinity',
  ],
  [
    volume({ local: { path: '/disk' }, nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
    'spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term',
  ],
  [
    volume({ csi: { driver: 'a'.repeat(64), volumeHandle: '' } }),
    'spec.csi.driver: Too long: may not be more than 63 bytes',
    'spec.csi.volumeHandle: Required value',
  ],
  [
    volume({ csi: { ...csi, nodePublishSecretRef: { name: 'a' } } }),
    'spec.csi.nodePublishSecretRef.namespace: Required value',
  ],
];

const claim = (spec: object, more: object = {}) => ({
  ...more,
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'a' };

const claims: readonly Case[] = [
  [claim({})],
  [claim({ storageClassName: '', dataSource: snapshot })],
  [
    {},
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ],
  [
    claim({ resources: { requests: { storage: '-1' } } }),
    'spec.resources[storage]: Invalid value: "-1": must be greater than zero',
  ],
  [
    claim({ resources: { requests: { storage: '500m' } } }),
    'spec.resources[storage]: Invalid value: "500m": must be an integer',
  ],
  [
    claim({ storageClassName: 'Fast' }),
    `spec.storageClassName: Invalid value: "Fast": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')`,
  ],
  [
    claim({ dataSourceRef: { kind: 'Any', name: 'a' } }),
    ...['dataSource', 'dataSourceRef'].map(
      (field) =>
        `spec.${field}: Invalid value: "Any": must be 'PersistentVolumeClaim' when referencing the default apiGroup`,
    ),
  ],
  [
    claim({ dataSource: snapshot, dataSourceRef: { ...snapshot, name: 'b' } }),
    'spec: Invalid value: "spec.dataSource": must match dataSourceRef',
  ],
];

const storageClass = (more: object) => ({ provisioner: 'example.com/disk', ...more });
const topology = (key: string, ...values: string[]) => ({ matchLabelExpressions: [{ key, values }] });

const classes: readonly Case[] = [
  [storageClass({ allowedTopologies: [topology('zone', 'a'), topology('zone', 'b')] })],
  [
    storageClass({ provisioner: 'a b' }),
    `provisioner: Invalid value: "a b": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc')`,
  ],
  [
    storageClass({ reclaimPolicy: 'Recycle' }),
    'reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"',
  ],
  [
    storageClass({ volumeBindingMode: 'Later' }),
    'volumeBindingMode: Unsupported value: "Later": supported values: "Immediate", "WaitForFirstConsumer"',
  ],
  [storageClass({ parameters: { '': 'a' } }), 'parameters: Invalid value: "": field can not be empty.'],
  [
    storageClass({ allowedTopologies: [topology('zone')] }),
    'allowedTopologies[0].matchLabelExpressions[0].values: Required value',
  ],
  [
    storageClass({ allowedTopologies: [topology('zone', 'a'), topology('zone', 'a')] }),
    'allowedTopologies[1].matchLabelExpressions: Duplicate value: ""',
  ],
];

const attachment = (source: object, more: object = {}) => ({
  spec: { attacher: 'disk.example.com', nodeName: 'one', source, ...more },
});
const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';

const attachments: readonly Case[] = [
  [attachment({ persistentVolumeName: 'a' })],
  [attachment({ inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], csi } })],
  [attachment({}), `spec.source: Required value: ${exactlyOne}`],
  [
    attachment({ persistentVolumeName: 'a', inlineVolumeSpec: { csi } }),
    `spec.source: Forbidden: ${exactlyOne}`,
  ],
  [
    attachment({ persistentVolumeName: '' }),
    'spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName',
  ],
  [
    attachment({ inlineVolumeSpec: { accessModes: ['ReadWriteOnce'], hostPath, storageClassName: 'a' } }),
    'spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline volumes',
    'spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified in the context of inline volumes',
  ],
];

const driver = (spec: object) => ({ metadata: { name: 'disk.example.com' }, spec });

const drivers: readonly Case[] = [
  [driver({})],
  [
    driver({ fsGroupPolicy: 'Any' }),
    'spec.fsGroupPolicy: Unsupported value: "Any": supported values: "ReadWriteOnceWithFSType", "File", "None"',
  ],
  [
    driver({ volumeLifecycleModes: ['Short'] }),
    'spec.volumeLifecycleModes: Unsupported value: "Short": supported values: "Ephemeral", "Persistent"',
  ],
  [
    driver({ tokenRequests: [{ audience: 'a', expirationSeconds: 5 }, { audience: 'a' }] }),
    'spec.tokenRequests[0].expirationSeconds: Invalid value: 5: may not specify a duration less than 10 minutes',
    'spec.tokenRequests[1].audience: Duplicate value: "a"',
  ],
];

const tables = [
  ['a volume', persistentVolumeKind, volumes],
  ['a claim', persistentVolumeClaimKind, claims],
  ['a class', storageClassKind, classes],
  ['an attachment', volumeAttachmentKind, attachments],
  ['a driver', csiDriverKind, drivers],
] as const;

for (const [what, kind, cases] of tables) {
  describe(what, () => {
    for (const [index, [sent, ...expected]] of cases.entries()) {
      const name = expected[0] === undefined ? `is accepted (${index})` : `is refused: ${expected[0]}`;
      test(name, () => assert.deepEqual(causesOf<object>(kind, sent), expected));
    }
  });
}

describe('a change', () => {
  const term = (key: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: ['a'] }] }] },
  });

  test('of a volume leaves its source, its mode and its place', () => {
    const old = volume({ csi });
    const secret = { controllerExpandSecretRef: { name: 'a', namespace: 'b' } };
    assert.deepEqual(causesOf(persistentVolumeKind, volume({ csi: { ...csi, ...secret } }), old), []);
    assert.deepEqual(causesOf(persistentVolumeKind, volume({ csi: { ...csi, volumeHandle: 'b' } }), old), [
      'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation\nchanged: spec.csi.volumeHandle',
    ]);
    assert.deepEqual(causesOf(persistentVolumeKind, volume({ csi, volumeMode: 'Block' }), old), [
      'volumeMode: Invalid value: "Block": field is immutable',
    ]);
    const placed = volume({ csi, nodeAffinity: term('failure-domain.beta.kubernetes.io/zone') });
    assert.deepEqual(causesOf(persistentVolumeKind, placed, old), [], 'a place may be added');
    const renamed = volume({ csi, nodeAffinity: term('topology.kubernetes.io/zone') });
    assert.deepEqual(causesOf(persistentVolumeKind, renamed, placed), []);
    assert.equal(
      causesOf(persistentVolumeKind, volume({ csi, nodeAffinity: term('rack') }), placed).length,
      1,
    );
    assert.equal(causesOf(persistentVolumeKind, old, placed).length, 1);
  });

  test('of a class or an attachment is none', () => {
    const from = storageClass({ parameters: { a: '1' } });
    assert.deepEqual(
      causesOf(
        storageClassKind,
        storageClass({ parameters: { a: '2' }, provisioner: 'b', reclaimPolicy: 'Retain' }),
        from,
      ),
      [
        'parameters: Forbidden: updates to parameters are forbidden.',
        'provisioner: Forbidden: updates to provisioner are forbidden.',
        'reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.',
      ],
    );
    assert.deepEqual(
      causesOf(storageClassKind, storageClass({ ...from, allowVolumeExpansion: true }), from),
      [],
    );
  });

  test('of a claim binds it once, and moves the class from its annotation', () => {
    const old = claim({});
    assert.deepEqual(
      causesOf(persistentVolumeClaimKind, claim({ volumeName: 'a', storageClassName: 'b' }), old),
      [],
    );
    assert.equal(
      causesOf(persistentVolumeClaimKind, claim({ volumeName: 'b' }), claim({ volumeName: 'a' })).length,
      1,
    );
    assert.equal(
      causesOf(persistentVolumeClaimKind, claim({ resources: { requests: { storage: '2Gi' } } }), old).length,
      1,
      'it is not bound',
    );
    const bound = (storage: string) => ({
      ...received(persistentVolumeClaimKind, claim({ resources: { requests: { storage } } })),
      status: { phase: 'Bound', capacity: { storage: '2Gi' } },
    });
    const shrunk = (to: string) => persistentVolumeClaimKind.validate(bound(to), bound('9Gi'));
    assert.deepEqual(shrunk('3Gi'), [], 'an expansion that failed is taken back');
    assert.deepEqual(
      shrunk('2Gi').map(({ message }) => message),
      ['Forbidden: field can not be less than status.capacity'],
    );
    const annotated = (name: string) => ({
      metadata: { annotations: { 'volume.beta.kubernetes.io/storage-class': name } },
    });
    assert.deepEqual(
      causesOf(persistentVolumeClaimKind, claim({ storageClassName: 'a' }), claim({}, annotated('a'))),
      [],
    );
    assert.deepEqual(
      causesOf(persistentVolumeClaimKind, claim({}, annotated('b')), claim({}, annotated('a'))),
      [
        'metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "b": field is immutable',
      ],
    );
  });
});
