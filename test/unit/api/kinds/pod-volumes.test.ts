import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { least, wrongWith } from './pod-examples.ts';

const [main] = least.containers;
const source = (volume: object) => wrongWith({ volumes: [{ name: 'v', ...volume }] });
const path = 'spec.volumes[0]';

describe('volumes', () => {
  test('have names of their own that are labels', () => {
    assert.deepEqual(wrongWith({ volumes: [{ name: 'v' }, { name: 'v' }] }), [
      'spec.volumes[1].name: Duplicate value: "v"',
    ]);
    assert.match(
      wrongWith({ volumes: [{ name: 'V' }] })[0] ?? '',
      /^spec.volumes\[0\].name: Invalid value: "V"/,
    );
    assert.deepEqual(wrongWith({ volumes: [{ name: '' }] }), [`${path}.name: Required value`]);
  });

  test('have exactly one source', () => {
    assert.deepEqual(source({ emptyDir: {}, secret: { secretName: 's' } }), [
      `${path}.secret: Forbidden: may not specify more than 1 volume type`,
    ]);
  });

  test('have a template of a claim that could be made', () => {
    const of = (spec: object, metadata: object = {}) =>
      source({ ephemeral: { volumeClaimTemplate: { metadata, spec } } });
    const requests = { storage: '1Gi' };
    assert.deepEqual(of({ accessModes: ['ReadWriteOnce'], resources: { requests } }), []);
    const at = `${path}.ephemeral.volumeClaimTemplate`;
    assert.deepEqual(of({ accessModes: [] }), [
      `${at}.spec.accessModes: Required value: at least 1 access mode is required`,
      `${at}.spec.resources[storage]: Required value`,
    ]);
    assert.match(
      of({ accessModes: ['ReadWriteOnce'], resources: { requests } }, { labels: { a: '?' } }).join(),
      /metadata\.labels: Invalid value: "\?"/,
    );
  });

  test('say what their source needs', () => {
    const needed: Record<string, [object, string[]]> = {
      secret: [{}, ['secretName']],
      configMap: [{}, ['name']],
      hostPath: [{ path: '' }, ['path']],
      persistentVolumeClaim: [{ claimName: '' }, ['claimName']],
      iscsi: [{ targetPortal: '', iqn: '', lun: 0 }, ['targetPortal', 'iqn']],
      rbd: [{ monitors: [], image: '' }, ['monitors', 'image']],
      scaleIO: [{ gateway: '', system: '', secretRef: {} }, ['gateway', 'system', 'volumeName']],
      ephemeral: [{}, ['volumeClaimTemplate']],
      image: [{}, ['reference']],
    };
    for (const [name, [given, fields]] of Object.entries(needed)) {
      const expected = fields.map((field) => `${path}.${name}.${field}: Required value`);
      assert.deepEqual(source({ [name]: given }), expected, name);
    }
    assert.deepEqual(source({ nfs: { server: '', path: '' } }), [
      `${path}.nfs.server: Required value`,
      `${path}.nfs.path: Required value`,
      `${path}.nfs.path: Invalid value: "": must be an absolute path`,
    ]);
    assert.match(
      source({ csi: { driver: '' } }).join(),
      /^spec\.volumes\[0\]\.csi\.driver: Required value,spec\.volumes\[0\]\.csi\.driver: Invalid value: ""/,
    );
  });

  test('have claims of their own where they are ephemeral', () => {
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    const ephemeral = { name: 'v', ephemeral: { volumeClaimTemplate: { spec } } };
    const named = { name: 'w', persistentVolumeClaim: { claimName: 'a-v' } };
    assert.deepEqual(wrongWith({ volumes: [named, ephemeral] }), [
      `${path}.persistentVolumeClaim.claimName: Invalid value: "a-v": must not reference a PVC that gets created for an ephemeral volume`,
    ]);
    const template = { metadata: { name: 'x', labels: { a: 'b' } }, spec };
    assert.deepEqual(source({ ephemeral: { volumeClaimTemplate: template } }), [
      `${path}.ephemeral.volumeClaimTemplate.metadata.name: Forbidden: cannot be set`,
    ]);
  });

  test('can be mounted only where they are valid', () => {
    const containers = [{ ...main, volumeMounts: [{ name: 'v', mountPath: '/v' }] }];
    assert.deepEqual(wrongWith({ containers, volumes: [{ name: 'v', secret: {} }] }), [
      `${path}.secret.secretName: Required value`,
      'spec.containers[0].volumeMounts[0].name: Not found: "v"',
    ]);
  });

  test('lead nowhere else', () => {
    assert.deepEqual(source({ hostPath: { path: '/a/../b' } }), [
      `${path}.hostPath.path: Invalid value: "/a/../b": must not contain '..'`,
    ]);
    assert.match(
      source({ hostPath: { path: '/a', type: 'Pipe' } })[0] ?? '',
      /hostPath.type: Unsupported value: "Pipe"/,
    );
    assert.deepEqual(source({ nfs: { server: 's', path: 'a' } }), [
      `${path}.nfs.path: Invalid value: "a": must be an absolute path`,
    ]);
    assert.deepEqual(source({ emptyDir: { sizeLimit: '-1' } }), [
      `${path}.emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity`,
    ]);
  });

  test('have files at paths below them, with modes that exist', () => {
    const items = (...given: object[]) => source({ secret: { secretName: 's', items: given } });
    assert.deepEqual(items({ key: 'k', path: 'a/b', mode: 0o400 }), []);
    assert.deepEqual(items({ key: '', path: '..a', mode: 0o1000 }), [
      `${path}.secret.items[0].key: Required value`,
      `${path}.secret.items[0].path: Invalid value: "..a": must not start with '..'`,
      `${path}.secret.items[0].mode: Invalid value: 512: must be a number between 0 and 0777 (octal), both inclusive`,
    ]);
    assert.equal(source({ configMap: { name: 'c', defaultMode: -1 } }).length, 1);
    const at = `${path}.secret.items[0].path: Invalid value`;
    assert.deepEqual(items({ key: 'k', path: '/a/../b' }), [
      `${at}: "/a/../b": must be a relative path`,
      `${at}: "/a/../b": must not contain '..'`,
    ]);
    assert.deepEqual(items({ key: 'k', path: '../b' }), [`${at}: "../b": must not contain '..'`]);
  });

  test('tell about the pod what can be told', () => {
    const file = (given: object) => source({ downwardAPI: { items: [{ path: 'p', ...given }] } });
    const at = `${path}.downwardAPI`;
    assert.deepEqual(file({}), [`${at}: Required value: one of fieldRef and resourceFieldRef is required`]);
    assert.match(
      file({ fieldRef: { fieldPath: 'status.podIP' } })[0] ?? '',
      /Unsupported value: "status.podIP"/,
    );
    assert.deepEqual(file({ resourceFieldRef: { resource: 'limits.cpu' } }), [
      `${at}.resourceFieldRef.containerName: Required value`,
    ]);
    assert.equal(
      file({
        fieldRef: { fieldPath: 'metadata.name' },
        resourceFieldRef: { containerName: 'm', resource: 'limits.cpu' },
      }).length,
      1,
    );
  });
});

describe('a projected volume', () => {
  const projected = (...sources: object[]) =>
    wrongWith({ serviceAccountName: 'x', volumes: [{ name: 'v', projected: { sources } }] });
  const at = `${path}.projected.sources[0]`;

  test('has one source at a time', () => {
    assert.deepEqual(projected({ secret: { name: 's' }, configMap: { name: 'c' } }), [
      `${at}: Forbidden: may not specify more than 1 volume type per source`,
    ]);
    assert.deepEqual(projected({}), []); // as in the reference, one without any has no files
    assert.deepEqual(projected({ secret: {} }), [`${at}.secret.name: Required value`]);
  });

  test('makes no file twice', () => {
    const item = { key: 'k', path: 'same' };
    const found = projected(
      { secret: { name: 's', items: [item] } },
      { configMap: { name: 'c', items: [item] } },
    );
    assert.deepEqual(found, [`${path}.projected: Invalid value: "c": conflicting duplicate paths`]);
    const facts = { items: [{ path: 'same', fieldRef: { fieldPath: 'metadata.name' } }] };
    assert.deepEqual(projected({ secret: { name: 's', items: [item] } }, { downwardAPI: facts }), [
      `${path}.projected: Invalid value: "same": conflicting duplicate paths`,
    ]);
  });

  test('may have a token where another source has a file: the later one counts', () => {
    const token = { serviceAccountToken: { path: 'same', expirationSeconds: 600 } };
    assert.deepEqual(projected({ secret: { name: 's', items: [{ key: 'k', path: 'same' }] } }, token), []);
    assert.deepEqual(projected({ serviceAccountToken: { path: '../t', expirationSeconds: 600 } }), [
      `${path}.projected.path: Invalid value: "../t": must not contain '..'`,
    ]);
  });

  test('holds tokens that live for ten minutes or more, of a pod with an account', () => {
    const token = (expirationSeconds: number) => ({ serviceAccountToken: { path: 't', expirationSeconds } });
    assert.deepEqual(projected(token(600)), []);
    assert.deepEqual(projected(token(599)), [
      `${at}.serviceAccountToken.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes`,
    ]);
    assert.equal(projected(token(2 ** 32 + 1)).length, 1);
    assert.deepEqual(wrongWith({ volumes: [{ name: 'v', projected: { sources: [token(600)] } }] }), [
      `${at}.serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set`,
    ]);
  });

  test('holds bundles by name or by signer, and certificates at some path', () => {
    assert.equal(projected({ clusterTrustBundle: { path: 'p' } }).length, 1);
    assert.equal(projected({ clusterTrustBundle: { path: 'p', name: 'n', signerName: 's' } }).length, 1);
    const bundle = (more: object) =>
      projected({ clusterTrustBundle: { path: 'p', ...more } }).map((cause) =>
        cause.replace(`${at}.clusterTrustBundle`, ''),
      );
    assert.deepEqual(bundle({ name: 'a.b' }), []);
    assert.deepEqual(bundle({ name: 'e.com:s:v1' }), []);
    assert.deepEqual(bundle({ signerName: 'e.com/s', labelSelector: {} }), []);
    assert.match(
      bundle({ name: 'e.com:s:V' }).join(),
      /^.name: .*: not a valid clustertrustbundlename: a lowercase/,
    );
    assert.match(
      bundle({ name: 'a', labelSelector: {} }).join(),
      /labelSelector must be unset if name is specified$/,
    );
    assert.equal(bundle({ name: '' })[0], '.name: Required value: must be a valid object name');
    assert.deepEqual(bundle({ signerName: '' }), [
      '.signerName: Required value: must be a valid signer name',
    ]);
    assert.match(bundle({ signerName: 's' }).join(), /of the form 'example.com\/signer-name'$/);
    assert.equal(projected({ podCertificate: { signerName: 'a/b', keyType: 'ED25519' } }).length, 1);
    assert.deepEqual(
      projected({ podCertificate: { signerName: 'a/b', keyType: 'ED25519', keyPath: 'k' } }),
      [],
    );
  });
});

describe('mounts', () => {
  const mounted = (mounts: object[], more: object = {}, volume: object = { emptyDir: {} }) =>
    wrongWith({
      volumes: [{ name: 'v', ...volume }],
      containers: [{ ...main, volumeMounts: mounts, ...more }],
    });
  const at = 'spec.containers[0].volumeMounts';

  test('are of volumes that exist, each at a path of its own', () => {
    assert.deepEqual(mounted([{ name: 'v', mountPath: '/a' }]), []);
    assert.deepEqual(mounted([{ name: 'w', mountPath: '/a' }]), [`${at}[0].name: Not found: "w"`]);
    assert.deepEqual(mounted([{ name: 'v', mountPath: '' }]), [`${at}[0].mountPath: Required value`]);
    assert.deepEqual(mounted([{ name: 'v' }]), [`${at}[0].mountPath: Required value`]);
    const twice = [
      { name: 'v', mountPath: '/a' },
      { name: 'v', mountPath: '/a' },
    ];
    assert.deepEqual(mounted(twice), [`${at}[1].mountPath: Invalid value: "/a": must be unique`]);
  });

  test('are of a part of the volume that is in it', () => {
    assert.deepEqual(mounted([{ name: 'v', mountPath: '/a', subPath: '../b' }]), [
      `${at}.subPath: Invalid value: "../b": must not contain '..'`,
    ]);
    assert.deepEqual(mounted([{ name: 'v', mountPath: '/a', subPath: 'b', subPathExpr: 'c' }]), [
      `${at}[0].subPathExpr: Invalid value: "c": subPathExpr and subPath are mutually exclusive`,
    ]);
    const image = { image: { reference: 'i' } };
    assert.deepEqual(mounted([{ name: 'v', mountPath: '/a', subPath: 'b' }], {}, image), []);
  });

  test('reach the node for privileged containers only', () => {
    const mount = { name: 'v', mountPath: '/a', mountPropagation: 'Bidirectional' };
    assert.deepEqual(mounted([mount], { securityContext: { privileged: true } }), []);
    assert.deepEqual(mounted([mount]), [
      `${at}.mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
    ]);
    assert.deepEqual(mounted([{ name: 'v', mountPath: '/a', recursiveReadOnly: 'Enabled' }]), [
      `${at}.recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
    ]);
  });

  test('and devices do not meet', () => {
    const claim = { persistentVolumeClaim: { claimName: 'c' } };
    const volumeDevices = [{ name: 'v', devicePath: '/dev/x' }];
    assert.deepEqual(mounted([], { volumeDevices }, claim), []);
    assert.deepEqual(mounted([], { volumeDevices }), [
      'spec.containers[0].volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
    ]);
    assert.equal(mounted([{ name: 'v', mountPath: '/dev/x' }], { volumeDevices }, claim).length, 4);
  });
});
