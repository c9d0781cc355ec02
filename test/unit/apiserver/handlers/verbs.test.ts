import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Kind } from '../../../../src/api/index.ts';
import { apiVersionOf, groupName, servedKinds } from '../../../../src/api/index.ts';
import { storedKinds, sampleOf as validSample } from '../http/encodings/samples.ts';
import { lease, named, objectIn, signingRequest, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

/** The objects of a view are those of another kind too, which is tested beside it. */
function namespaceOf({ namespaced, storedAs }: Kind): string | undefined {
  if (!namespaced) return undefined;
  return storedAs === undefined ? 'default' : 'kube-public';
}

function collectionOf(kind: Kind): string {
  const group = groupName(kind.group, 'k8s.io');
  const base = group === '' ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
  const namespace = namespaceOf(kind);
  return namespace === undefined
    ? `${base}/${kind.resource}`
    : `${base}/namespaces/${namespace}/${kind.resource}`;
}

const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' };
const happened = {
  eventTime: '2026-01-01T00:00:00.000000Z',
  type: 'Normal',
  reason: 'Test',
  action: 'Testing',
};

/** What an object must have beside a name, by group and kind. */
const required: Record<string, object> = {
  '/Event': { involvedObject: { kind: 'Lease', namespace: 'default', name: 'x' } },
  'events/Event': {
    ...happened,
    regarding: { kind: 'Lease', namespace: 'kube-public', name: 'x' },
    reportingController: 'example.com/test',
    reportingInstance: 'one',
  },
  '/Pod': {
    spec: {
      automountServiceAccountToken: false,
      containers: [{ name: 'main', image: 'example.com/image:1' }],
    },
  },
  'coordination/Lease': { spec: { holderIdentity: 'somebody', leaseDurationSeconds: 40 } },
  'rbac.authorization/RoleBinding': { roleRef },
  'rbac.authorization/ClusterRoleBinding': { roleRef },
  '/Service': { spec: { ports: [{ port: 80 }] } },
  '/PersistentVolume': {
    spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/data' } },
  },
  '/PersistentVolumeClaim': {
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  },
  'storage/StorageClass': { provisioner: 'example.com/disk' },
  'storage/VolumeAttachment': {
    spec: { attacher: 'example.com', nodeName: 'one', source: { persistentVolumeName: 'data' } },
  },
  'storage/CSIDriver': { spec: {} },
  'certificates/ClusterTrustBundle': { spec: { trustBundle: server.running.ca } },
  'node/RuntimeClass': { handler: 'runc' },
  'storage/CSINode': { spec: { drivers: [] } },
};

async function sampleOf(asked: Kind, name: string): Promise<object> {
  const { group, kind } = asked;
  if (kind === 'CertificateSigningRequest') {
    const spec = { signerName: 'example.com/nobody' }; // so that no controller writes to it
    return await signingRequest(name, { metadata: { name }, spec });
  }
  const more = required[`${group}/${kind}`];
  if (more !== undefined) return { ...named(name), ...more };
  const { metadata, ...rest } = validSample(asked, name);
  const namespace = namespaceOf(asked);
  return { metadata: { ...metadata, ...(namespace === undefined ? {} : { namespace }) }, ...rest };
}

for (const kind of storedKinds) {
  const collection = collectionOf(kind);
  describe(kind.kind, () => {
    test('is created, read, listed, changed and deleted', async () => {
      const made = await admin.request('POST', collection, { body: await sampleOf(kind, 'story') });
      assert.equal(made.code, 201, made.text);
      const created = objectIn(made);
      assert.equal(created.kind, kind.kind);
      assert.equal(created.apiVersion, apiVersionOf(kind, 'k8s.io'));
      assert.match(created.metadata.uid ?? '', /^[0-9a-f-]{36}$/);
      assert.match(created.metadata.creationTimestamp ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.equal(created.metadata.namespace, namespaceOf(kind));

      assert.equal(
        (await admin.must('GET', `${collection}/story`)).metadata.uid,
        created.metadata.uid,
        'what was created is there',
      );

      const reply = await admin.request('GET', collection);
      const list = JSON.parse(reply.text);
      assert.equal(list.kind, `${kind.kind}List`);
      assert.equal(list.apiVersion, created.apiVersion);
      assert.match(list.metadata.resourceVersion, /^\d+$/);
      assert.ok(list.items.some((item: typeof created) => item.metadata.name === 'story'));

      const before = await admin.must('GET', `${collection}/story`);
      const labelled = { ...before, metadata: { ...before.metadata, labels: { colour: 'red' } } };
      const changed = await admin.must('PUT', `${collection}/story`, labelled);
      assert.equal(changed.metadata.labels?.['colour'], 'red');
      assert.notEqual(changed.metadata.resourceVersion, before.metadata.resourceVersion);
      assert.equal(changed.metadata.uid, before.metadata.uid);
      assert.equal(changed.metadata.creationTimestamp, before.metadata.creationTimestamp);

      const deleted = await admin.request('DELETE', `${collection}/story`);
      const status = JSON.parse(deleted.text);
      assert.equal(status.kind, 'Status');
      assert.equal(status.status, 'Success');
      assert.equal(status.code, deleted.code);
      assert.deepEqual(
        { name: status.details.name, kind: status.details.kind, uid: status.details.uid },
        { name: 'story', kind: kind.resource, uid: before.metadata.uid },
      );
    });

    test('gets a name from generateName, and a given name wins over it', async () => {
      const sample = Object.assign(await sampleOf(kind, ''), { metadata: { generateName: 'made-' } });
      const first = await admin.must('POST', collection, sample);
      const second = await admin.must('POST', collection, sample);
      assert.match(first.metadata.name ?? '', /^made-[a-z0-9]{5}$/);
      assert.notEqual(first.metadata.name, second.metadata.name);
      assert.equal(first.metadata.generateName, 'made-');
      const both = { ...sample, metadata: { name: 'given', generateName: 'made-' } };
      assert.equal((await admin.must('POST', collection, both)).metadata.name, 'given');
    });

    test('takes no metadata that is the server’s to give', async () => {
      const forged = {
        uid: 'mine',
        creationTimestamp: '2001-01-01T00:00:00Z',
        deletionTimestamp: '2001-01-01T00:00:00Z',
        deletionGracePeriodSeconds: 5,
        generation: 77,
        selfLink: '/somewhere',
      };
      const sample = await sampleOf(kind, 'forged');
      const body = { ...sample, metadata: { name: 'forged', ...forged } };
      const { metadata } = await admin.must('POST', collection, body);
      const { uid, ...unchanged } = metadata;
      for (const [field, value] of Object.entries(forged)) {
        assert.notEqual(Object.entries(metadata).find(([name]) => name === field)?.[1], value, field);
      }
      assert.equal(metadata.deletionTimestamp, undefined);

      const { resourceVersion } = (await settled(`${collection}/forged`)).metadata;
      const anew = { ...body, metadata: { ...body.metadata, resourceVersion } };
      await admin.refused('Conflict', 'PUT', `${collection}/forged`, { body: anew }); // the uid is a precondition
      const { deletionTimestamp: _time, deletionGracePeriodSeconds: _grace, ...kept } = anew.metadata;
      const again = { ...anew, metadata: { ...kept, uid } };
      const after = await admin.must('PUT', `${collection}/forged`, again);
      assert.equal(after.metadata.uid, uid);
      assert.equal(after.metadata.creationTimestamp, unchanged.creationTimestamp);
      assert.equal(after.metadata.deletionTimestamp, undefined);
      assert.equal(after.metadata.generation, unchanged.generation);

      await admin.refused('BadRequest', 'POST', collection, {
        body: { ...sample, metadata: { name: 'other', resourceVersion: '1' } },
      });
    });

    test('the same object written again is no change, in whatever order its fields stand', async () => {
      await admin.must('POST', collection, await sampleOf(kind, 'still'));
      const before = await settled(`${collection}/still`);
      const after = await admin.must('PUT', `${collection}/still`, reversed(before));
      assert.equal(after.metadata.resourceVersion, before.metadata.resourceVersion);
    });

    // those behind a gate, and those in another form, have tests of their own
    const parts = kind.subresources.filter(
      ({ verbs, connects, gate, view }) =>
        verbs.includes('update') && !connects && gate === undefined && view === undefined,
    );
    for (const part of parts) {
      test(`${part.name} takes its own fields and nothing else`, async () => {
        const name = `part-${part.name}`;
        await admin.must('POST', collection, await sampleOf(kind, name));
        const before = await settled(`${collection}/${name}`);
        const path = `${collection}/${name}/${part.name}`;
        if (part.verbs.includes('get')) {
          assert.deepEqual(await admin.must('GET', path), before, 'the whole object is shown');
        } else {
          await admin.refused('MethodNotAllowed', 'GET', path);
        }
        const forbidden = Object.fromEntries(
          ['spec', 'status'].filter((field) => !part.fields.includes(field)).map((field) => [field, {}]),
        );
        const after = await admin.must('PUT', path, {
          ...before,
          ...forbidden,
          metadata: { ...before.metadata, labels: { ...before.metadata.labels, through: 'part' } },
        });
        for (const field of Object.keys(forbidden)) {
          assert.deepEqual(
            Reflect.get(after, field),
            Reflect.get(before, field),
            `${field} is not of ${part.name}`,
          );
        }
        await admin.refused('MethodNotAllowed', 'DELETE', path);
        await admin.refused('MethodNotAllowed', 'POST', path, { body: before });
      });
    }

    test('says which methods it serves', async () => {
      const canBeEmptied = kind.verbs.includes('deletecollection');
      const onCollection = await admin.refused('MethodNotAllowed', 'PUT', collection, { body: {} });
      assert.equal(onCollection.reply.headers.allow, canBeEmptied ? 'GET, POST, DELETE' : 'GET, POST');
      const onItem = await admin.refused('MethodNotAllowed', 'POST', `${collection}/x`, { body: {} });
      assert.equal(onItem.reply.headers.allow, 'GET, PUT, PATCH, DELETE');
      for (const path of [collection, `${collection}/x`]) {
        assert.equal((await admin.request('HEAD', path)).code, 405, 'a HEAD is no verb');
      }
    });

    test('what is not there is 404 with its name', async () => {
      for (const method of kind.createOnUpdate ? ['GET', 'DELETE'] : ['GET', 'PUT', 'DELETE']) {
        const send = method === 'PUT' ? { body: await sampleOf(kind, 'absent') } : {};
        const { details } = await admin.refused('NotFound', method, `${collection}/absent`, send);
        assert.equal(details?.name, 'absent');
        assert.equal(details?.kind, kind.resource);
        assert.equal(details?.group, groupName(kind.group, 'k8s.io') || undefined);
      }
    });

    if (kind.createOnUpdate) {
      test('a PUT of what is not there creates it, unless it says that there was something', async () => {
        const path = `${collection}/put`;
        const sample = await sampleOf(kind, 'put');
        for (const known of [{ uid: 'gone' }, { resourceVersion: '1' }]) {
          const body = { ...sample, metadata: { name: 'put', ...known } };
          const { details } = await admin.refused('Conflict', 'PUT', path, { body });
          assert.equal(details?.name, 'put');
        }
        const dry = await admin.request('PUT', `${path}?dryRun=All`, { body: sample });
        assert.equal(dry.code, 201, dry.text);
        const made = await admin.request('PUT', path, { body: sample });
        assert.equal(made.code, 201, made.text);
        const again = await admin.request('PUT', path, { body: objectIn(made) });
        assert.equal(again.code, 200, again.text);
        assert.equal(objectIn(again).metadata.uid, objectIn(made).metadata.uid);
      });
    }

    test('a PUT without resourceVersion wins, or is refused where the kind wants one', async () => {
      await admin.must('POST', collection, await sampleOf(kind, 'blind'));
      await settled(`${collection}/blind`);
      const send = { body: await sampleOf(kind, 'blind') };
      if (kind.unconditionalUpdate) {
        assert.equal((await admin.request('PUT', `${collection}/blind`, send)).code, 200);
        return;
      }
      const { details } = await admin.refused('Invalid', 'PUT', `${collection}/blind`, send);
      const [cause] = details?.causes ?? [];
      assert.equal(cause?.field, 'metadata.resourceVersion');
      assert.equal(cause?.message, 'Invalid value: 0x0: must be specified for an update');
    });
  });
}

for (const kind of servedKinds.filter(({ virtual }) => virtual)) {
  test(`a ${kind.kind} is created and nothing else`, async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const { reply } = await admin.refused('MethodNotAllowed', method, collectionOf(kind));
      assert.equal(reply.headers.allow, 'POST');
    }
    await admin.refused('NotFound', 'GET', `${collectionOf(kind)}/x`);
  });
}

/** The same with the fields of every object in reverse. */
function reversed(value: object): object {
  if (Array.isArray(value)) return value.map((item) => (typeof item === 'object' ? reversed(item) : item));
  const fields = Object.entries(value).map(([name, inner]) => [
    name,
    typeof inner === 'object' && inner !== null ? reversed(inner) : inner,
  ]);
  return Object.fromEntries(fields.reverse());
}

/** The object once no controller changes it any more. */
async function settled(path: string) {
  for (let before = await admin.must('GET', path); ; ) {
    await new Promise((resolve) => setTimeout(resolve, 30));
    const now = await admin.must('GET', path);
    if (now.metadata.resourceVersion === before.metadata.resourceVersion) return now;
    before = now;
  }
}

test('an object of a namespaced kind is listed across namespaces too, and created in one only', async () => {
  await admin.must('POST', '/api/v1/namespaces', named('elsewhere'));
  await admin.must('POST', '/apis/coordination.k8s.io/v1/namespaces/elsewhere/leases', lease('far'));
  const all = await admin.list('/apis/coordination.k8s.io/v1/leases');
  assert.ok(all.some(({ metadata }) => metadata.namespace === 'elsewhere' && metadata.name === 'far'));
  const reply = await admin.refused('MethodNotAllowed', 'POST', '/apis/coordination.k8s.io/v1/leases', {
    body: lease('nowhere'),
  });
  assert.equal(reply.reply.headers.allow, 'GET');
});
