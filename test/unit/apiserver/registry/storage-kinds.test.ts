/** What new claims and volumes get, and what stays as it is. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const claims = '/api/v1/namespaces/default/persistentvolumeclaims';
const volumes = '/api/v1/persistentvolumes';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const makeClaim = (name: string, more: object = {}, metadata: object = {}) =>
  admin.must('POST', claims, { metadata: { name, ...metadata }, spec: { ...claimSpec, ...more } });
const makeClass = (name: string, annotations: object = {}, more: object = {}) =>
  admin.must('POST', classes, { metadata: { name, annotations }, provisioner: 'example.com/disk', ...more });

describe('a new claim', () => {
  test('is pending and protected, whatever its writer says of its state', async () => {
    const body = { metadata: { name: 'new' }, spec: claimSpec, status: { phase: 'Bound' } };
    const made = await admin.must('POST', claims, body);
    assert.deepEqual(made.status, { phase: 'Pending' });
    assert.deepEqual(made.metadata.finalizers, ['kubernetes.io/pvc-protection']);
    assert.equal(made.spec?.['volumeMode'], 'Filesystem');
    assert.equal(made.spec?.['storageClassName'], undefined);
  });

  test('gets the newest default class, unless it names one or none', async () => {
    await makeClass('plain');
    await makeClass('b-default', isDefault);
    await makeClass('a-default', { 'storageclass.beta.kubernetes.io/is-default-class': 'true' });
    const made = await makeClaim('silent');
    assert.ok(['a-default', 'b-default'].includes(String(made.spec?.['storageClassName'])));
    assert.equal((await makeClaim('none', { storageClassName: '' })).spec?.['storageClassName'], '');
    assert.equal(
      (await makeClaim('plain', { storageClassName: 'plain' })).spec?.['storageClassName'],
      'plain',
    );
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'plain' };
    const old = await makeClaim('annotated', {}, { annotations });
    assert.equal(old.spec?.['storageClassName'], undefined);
  });

  test('says in both fields what it is filled from', async () => {
    const dataSource = { kind: 'PersistentVolumeClaim', name: 'other' };
    const made = await makeClaim('copy', { dataSource });
    assert.deepEqual(made.spec?.['dataSourceRef'], { apiGroup: null, ...dataSource });
    const foreign = { apiGroup: 'example.com', kind: 'Image', name: 'a' };
    const dropped = await makeClaim('foreign', { dataSource: foreign });
    assert.deepEqual([dropped.spec?.['dataSource'], dropped.spec?.['dataSourceRef']], [undefined, undefined]);
    const kept = await makeClaim('image', { dataSourceRef: foreign });
    assert.deepEqual(kept.spec?.['dataSource'], foreign);
    const elsewhere = await makeClaim('elsewhere', {
      dataSourceRef: { ...foreign, namespace: 'kube-system' },
    });
    assert.equal(elsewhere.spec?.['dataSourceRef'], undefined);
  });
});

describe('a volume and a claim that name each other', () => {
  test('are bound by hand, and say since when', async () => {
    const body = {
      metadata: { name: 'pv' },
      spec: {
        ...{ accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' }, hostPath: { path: '/data' } },
        claimRef: { namespace: 'default', name: 'mine' },
      },
    };
    const made = await admin.must('POST', volumes, body);
    assert.equal(made.status?.['phase'], 'Pending');
    assert.equal(made.status?.['lastPhaseTransitionTime'], made.metadata.creationTimestamp);
    assert.equal(made.spec?.['persistentVolumeReclaimPolicy'], 'Retain');
    assert.deepEqual(made.metadata.finalizers, ['kubernetes.io/pv-protection']);
    await makeClass('growing', {}, { allowVolumeExpansion: true });
    await makeClaim('mine', { storageClassName: 'growing', volumeName: 'pv' });
    const bound = await admin.must('PUT', `${volumes}/pv/status`, { ...made, status: { phase: 'Bound' } });
    assert.equal(bound.status?.['phase'], 'Bound');
    assert.match(String(bound.status?.['lastPhaseTransitionTime']), /^\d{4}-/);
    const claim = await admin.must('GET', `${claims}/mine`);
    const status = { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' } };
    await admin.must('PUT', `${claims}/mine/status`, { ...claim, status });
    assert.deepEqual(await cellsOf(claims, 'mine'), [
      'mine',
      'Bound',
      'pv',
      '2Gi',
      'RWO',
      'growing',
      '<unset>',
      'Filesystem',
    ]);
    assert.deepEqual(await cellsOf(volumes, 'pv'), [
      ...['pv', '2Gi', 'RWO', 'Retain', 'Bound', 'default/mine', '', '<unset>', '', 'Filesystem'],
    ]);
  });

  test('the claim grows, and changes in no other way', async () => {
    const claim = await admin.must('GET', `${claims}/mine`);
    const change = (spec: object) => ({ ...claim, spec: { ...claim.spec, ...spec } });
    const grown = await admin.must(
      'PUT',
      `${claims}/mine`,
      change({ resources: { requests: { storage: '3Gi' } } }),
    );
    const refused = async (spec: object) =>
      (
        await admin.refused('Invalid', 'PUT', `${claims}/mine`, {
          body: { ...grown, spec: { ...grown.spec, ...spec } },
        })
      ).message ?? '';
    assert.match(
      await refused({ resources: { requests: { storage: '2Gi' } } }),
      /spec\.resources\.requests\.storage: Forbidden: field can not be less than status\.capacity/,
    );
    assert.match(
      await refused({ volumeName: 'other' }),
      /spec: Forbidden: spec is immutable after creation except resources\.requests and volumeAttributesClassName for bound claims/,
    );
  });
});

describe('a claim that asks for more', () => {
  const bound = { status: { phase: 'Bound', capacity: { storage: '1Gi' } } };
  /** What is said to a claim of the class that asks for 3 Gi, and then for less. */
  async function grow(name: string, className: string, status: object): Promise<string> {
    const made = await makeClaim(name, { storageClassName: className });
    const was = await admin.must('PUT', `${claims}/${name}/status`, { ...made, ...status });
    const body = { ...was, spec: { ...was.spec, resources: { requests: { storage: '3Gi' } } } };
    return (await admin.refused('Forbidden', 'PUT', `${claims}/${name}`, { body })).message ?? '';
  }
  const why =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

  test('is refused where its class does not let it grow, and before it is bound', async () => {
    await makeClass('rigid');
    for (const [name, className] of [
      ['rigid', 'rigid'],
      ['by-hand', ''],
      ['lost-class', 'nowhere'],
    ] as const)
      assert.equal(
        await grow(name, className, bound),
        `persistentvolumeclaims "${name}" is forbidden: ${why}`,
      );
    assert.match(
      await grow('early', 'growing', {}),
      /is forbidden: Only bound persistent volume claims can be expanded$/,
    );
  });

  test('may take that back, as far as it has not happened', async () => {
    const made = await makeClaim('regret', { storageClassName: 'growing' });
    const ask = (from: typeof made, storage: string) => ({
      ...from,
      spec: { ...from.spec, resources: { requests: { storage } } },
    });
    const was = await admin.must('PUT', `${claims}/regret/status`, { ...made, ...bound });
    const grown = await admin.must('PUT', `${claims}/regret`, ask(was, '3Gi'));
    const less = await admin.must('PUT', `${claims}/regret`, ask(grown, '2Gi'));
    const { message = '' } = await admin.refused('Invalid', 'PUT', `${claims}/regret`, {
      body: ask(less, '1Gi'),
    });
    assert.match(message, /field can not be less than status\.capacity/);
  });
});

/** The row of an object, without its age. */
async function cellsOf(collection: string, name: string): Promise<unknown[]> {
  const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
  const { text } = await admin.request('GET', `${collection}/${name}`, { headers: { accept } });
  const { columnDefinitions, rows } = JSON.parse(text);
  const age = columnDefinitions.findIndex((column: { name: string }) => column.name === 'Age');
  return rows[0].cells.toSpliced(age, 1);
}

describe('a storage class', () => {
  test('is listed with what it does, and the default one as such', async () => {
    await makeClass('listed', isDefault);
    assert.deepEqual(await cellsOf(classes, 'listed'), [
      ...['listed (default)', 'example.com/disk', 'Delete', 'Immediate', false],
    ]);
  });
});

describe('an attachment and a driver', () => {
  const attachments = '/apis/storage.k8s.io/v1/volumeattachments';
  const drivers = '/apis/storage.k8s.io/v1/csidrivers';

  test('the state of an attachment has a path of its own', async () => {
    const spec = { attacher: 'example.com', nodeName: 'one', source: { persistentVolumeName: 'pv' } };
    const made = await admin.must('POST', attachments, {
      metadata: { name: 'va' },
      spec,
      status: { attached: true },
    });
    assert.deepEqual(made.status, { attached: false });
    const labelled = { ...made.metadata, labels: { a: 'b' } };
    const next = await admin.must('PUT', `${attachments}/va/status`, {
      ...made,
      metadata: labelled,
      status: { attached: true, attachmentMetadata: { devicePath: '/dev/sdb' } },
    });
    assert.equal(next.metadata.labels, undefined);
    assert.deepEqual(await cellsOf(attachments, 'va'), ['va', 'example.com', 'pv', 'one', true]);
    const moved = { ...next, spec: { ...spec, nodeName: 'two' } };
    const { message = '' } = await admin.refused('Invalid', 'PUT', `${attachments}/va`, { body: moved });
    assert.match(message, /spec: Invalid value: .*: field is immutable/);
  });

  test('a driver counts its states, and keeps what pods rely on', async () => {
    const made = await admin.must('POST', drivers, { metadata: { name: 'disk.example.com' }, spec: {} });
    assert.equal(made.metadata.generation, undefined);
    assert.deepEqual(await cellsOf(drivers, 'disk.example.com'), [
      ...['disk.example.com', true, false, false, '<unset>', false, 'Persistent'],
    ]);
    const spec = { ...made.spec, tokenRequests: [{ audience: 'vault' }] };
    const next = await admin.must('PUT', `${drivers}/disk.example.com`, { ...made, spec });
    assert.equal(next.metadata.generation, 1);
    const body = { ...next, spec: { ...spec, attachRequired: false } };
    const { message = '' } = await admin.refused('Invalid', 'PUT', `${drivers}/disk.example.com`, { body });
    assert.match(message, /spec\.attachRequired: Invalid value: false: field is immutable/);
  });
});
