import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/index.ts';
import { named, namespaces, startServer } from '../support/index.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;

const pods = '/api/v1/namespaces/team/pods';
const accounts = '/api/v1/namespaces/team/serviceaccounts';
const mountPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const container = { name: 'c', image: 'i' };
let count = 0;

before(async () => {
  await admin.must('POST', namespaces, named('team'));
});

type Spec = NonNullable<Pod['spec']>;

async function specOf(spec: object, query = ''): Promise<Spec> {
  count += 1;
  const body = { ...named(`pod-${count}`), spec: { containers: [container], ...spec } };
  const { text, code } = await admin.request('POST', `${pods}${query}`, { body });
  assert.equal(code, 201, text);
  return JSON.parse(text).spec;
}

async function refusalOf(spec: object, metadata: object = {}): Promise<string> {
  const body = { metadata: { name: 'refused', ...metadata }, spec: { containers: [container], ...spec } };
  const { message = '' } = await admin.refused('Forbidden', 'POST', pods, { body });
  return message;
}

const account = (name: string, more: object) => admin.must('POST', accounts, { ...named(name), ...more });
const mountsOf = ({ volumeMounts = [] }: Spec['containers'][number]) =>
  volumeMounts.map(({ name, mountPath: path }) => [name, path]);

describe('a new pod', () => {
  test('gets a token of the account default, the certificate of the authority and its namespace', async () => {
    const {
      serviceAccountName,
      serviceAccount,
      volumes = [],
      containers,
      initContainers = [],
    } = await specOf({
      initContainers: [{ ...container, name: 'first' }],
    });
    assert.deepEqual([serviceAccountName, serviceAccount], ['default', 'default']);
    const [{ name = '', ...volume } = {}, ...others] = volumes;
    assert.deepEqual(others, []);
    assert.match(name, /^kube-api-access-[b-z2-9]{5}$/);
    const fieldRef = { apiVersion: 'v1', fieldPath: 'metadata.namespace' };
    assert.deepEqual(volume, {
      projected: {
        defaultMode: 420,
        sources: [
          { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: 'namespace', fieldRef }] } },
        ],
      },
    });
    for (const each of [...containers, ...initContainers]) {
      assert.deepEqual(each.volumeMounts, [{ name, readOnly: true, mountPath }]);
    }
    assert.notEqual((await specOf({})).volumes?.[0]?.name, name);
  });

  test('gets nothing where its containers have something there already, or where a volume is brought along', async () => {
    const own = { name: 'mine', emptyDir: {} };
    const mounted = { ...container, volumeMounts: [{ name: 'mine', mountPath }] };
    const all = await specOf({ containers: [mounted], volumes: [own] });
    assert.deepEqual(
      [all.volumes?.map(({ name }) => name), all.containers.map(mountsOf)],
      [['mine'], [[['mine', mountPath]]]],
    );
    const some = await specOf({ containers: [mounted, { ...container, name: 'other' }], volumes: [own] });
    const [, added] = some.volumes ?? [];
    assert.match(added?.name ?? '', /^kube-api-access-/);
    assert.deepEqual(some.containers.map(mountsOf), [[['mine', mountPath]], [[added?.name, mountPath]]]);
    const kept = await specOf({ volumes: [{ name: 'kube-api-access-abcde', emptyDir: {} }] });
    assert.equal(kept.volumes?.length, 1);
    assert.deepEqual(kept.containers.map(mountsOf), [[['kube-api-access-abcde', mountPath]]]);
  });

  test('gets no token where the pod or, unless that says otherwise, its account does not want one', async () => {
    await account('quiet', { automountServiceAccountToken: false });
    const hasToken = async (spec: object) => (await specOf(spec)).volumes !== undefined;
    assert.equal(await hasToken({ automountServiceAccountToken: false }), false);
    assert.equal(await hasToken({ serviceAccountName: 'quiet' }), false);
    assert.equal(await hasToken({ serviceAccountName: 'quiet', automountServiceAccountToken: true }), true);
    await account('loud', { automountServiceAccountToken: true });
    assert.equal(await hasToken({ serviceAccount: 'loud' }), true);
    assert.equal(await hasToken({ serviceAccountName: 'loud', automountServiceAccountToken: false }), false);
  });

  test('gets the secrets to pull images with of its account, unless it has its own', async () => {
    await account('puller', { imagePullSecrets: [{ name: 'a' }, { name: 'b' }] });
    const secretsOf = async (spec: object) =>
      (await specOf({ serviceAccountName: 'puller', ...spec })).imagePullSecrets;
    assert.deepEqual(await secretsOf({}), [{ name: 'a' }, { name: 'b' }]);
    assert.deepEqual(await secretsOf({ imagePullSecrets: [{ name: 'own' }] }), [{ name: 'own' }]);
    assert.equal((await specOf({})).imagePullSecrets, undefined);
  });

  test('needs an account that exists', async () => {
    assert.equal(
      await refusalOf({ serviceAccountName: 'none' }),
      'pods "refused" is forbidden: error looking up service account team/none: serviceaccount "none" not found',
    );
  });

  test('does not wait for the account default of a namespace that is new, or of which it was just deleted', async () => {
    for (let index = 0; index < 20; index += 1) {
      const name = `new-${index}`;
      await admin.must('POST', namespaces, named(name));
      const bodies = ['a', 'b', 'c'].map((each) => ({ ...named(each), spec: { containers: [container] } }));
      await Promise.all(bodies.map((body) => admin.must('POST', `/api/v1/namespaces/${name}/pods`, body)));
      const found = await admin.list(`/api/v1/namespaces/${name}/serviceaccounts`);
      assert.deepEqual(
        found.map(({ metadata }) => metadata.name),
        ['default'],
      );
    }
    await admin.must('DELETE', `${accounts}/default`);
    await specOf({});
  });

  test('makes no account in a dry run', async () => {
    await admin.must('DELETE', `${accounts}/default`);
    const { volumes } = await specOf({}, '?dryRun=All');
    assert.match(volumes?.[0]?.name ?? '', /^kube-api-access-/);
  });

  test('in a namespace that is not there is told so', async () => {
    const body = { ...named('lost'), spec: { containers: [container], serviceAccountName: 'none' } };
    const { message } = await admin.refused('NotFound', 'POST', '/api/v1/namespaces/nowhere/pods', { body });
    assert.equal(message, 'namespaces "nowhere" not found');
  });

  test('that is not whole is invalid, not a failure', async () => {
    for (const spec of [
      undefined,
      {},
      { containers: [] },
      { containers: [{}] },
      { containers: [{ volumeMounts: [{}] }], volumes: [{}] },
    ]) {
      await admin.refused('Invalid', 'POST', pods, { body: { ...named('broken'), spec } });
    }
  });

  test('is added to in nobody’s name, so that it can be applied again and again', async () => {
    const path = `${pods}/applied?fieldManager=me`;
    const body = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'applied' },
      spec: { containers: [container] },
    };
    const headers = { 'content-type': 'application/apply-patch+yaml' };
    const first = await admin.request('PATCH', path, { body, headers });
    const again = await admin.request('PATCH', path, { body, headers });
    assert.deepEqual([first.code, again.code], [201, 200], again.text);
    assert.equal(JSON.parse(again.text).spec.volumes.length, 1);
    const made: Pod = JSON.parse(
      (await admin.request('POST', pods, { body: { ...body, metadata: { name: 'made' } } })).text,
    );
    const owned = JSON.stringify(made.metadata?.managedFields);
    assert.match(owned, /f:containers/);
    assert.doesNotMatch(owned, /f:volumes|f:volumeMounts/);
  });

  test('is not added to when it is changed', async () => {
    await account('late', { automountServiceAccountToken: false });
    await admin.must('POST', pods, {
      ...named('old'),
      spec: { containers: [container], serviceAccountName: 'late' },
    });
    await admin.must('DELETE', `${accounts}/late`);
    const old = await admin.must('GET', `${pods}/old`);
    const changed = await admin.must('PUT', `${pods}/old`, {
      ...old,
      metadata: { ...old.metadata, labels: { a: 'b' } },
    });
    assert.equal(changed.spec?.['volumes'], undefined);
  });
});

describe('a mirror pod', () => {
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'x' } };

  test('gets nothing', async () => {
    const body = {
      metadata: { name: 'mirror', ...mirror },
      spec: { containers: [container], nodeName: 'n' },
    };
    const { spec } = await admin.must('POST', pods, body);
    assert.deepEqual([spec?.['volumes'], spec?.['serviceAccountName']], [undefined, undefined]);
  });

  test('may not ask for what belongs to an account', async () => {
    const token = { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
    for (const [spec, why] of [
      [{ serviceAccountName: 'default' }, 'a mirror pod may not reference service accounts'],
      [{ imagePullSecrets: [{ name: 's' }] }, 'a mirror pod may not reference secrets'],
      [{ volumes: [token] }, 'a mirror pod may not use ServiceAccountToken volume projections'],
    ] as const) {
      const said = await refusalOf({ nodeName: 'n', ...spec }, mirror);
      assert.equal(said, `pods "refused" is forbidden: ${why}`);
    }
  });
});

describe('an account that limits secrets', () => {
  const why = 'is not allowed because service account strict does not reference that';
  const env = (name: string) => [{ name: 'V', valueFrom: { secretKeyRef: { name, key: 'k' } } }];
  const envFrom = (name: string) => [{ secretRef: { name } }];
  const strict = { serviceAccountName: 'strict', imagePullSecrets: [{ name: 'pull' }] };

  before(async () => {
    await account('strict', {
      metadata: { name: 'strict', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      secrets: [{ name: 'known' }],
      imagePullSecrets: [{ name: 'pull' }],
    });
  });

  test('refuses its pods all others', async () => {
    const first = { ...container, name: 'first' };
    for (const [spec, what] of [
      [
        { volumes: [{ name: 'v', secret: { secretName: 'other' } }] },
        'volume with secret.secretName="other"',
      ],
      [
        { containers: [{ ...container, env: env('other') }] },
        'container c with envVar V referencing secret.secretName="other"',
      ],
      [
        { containers: [{ ...container, envFrom: envFrom('other') }] },
        'container c with envFrom referencing secret.secretName="other"',
      ],
      [
        { initContainers: [{ ...first, env: env('other') }] },
        'init container first with envVar V referencing secret.secretName="other"',
      ],
      [
        { initContainers: [{ ...first, envFrom: envFrom('other') }] },
        'init container first with envFrom referencing secret.secretName="other"',
      ],
    ] as const) {
      assert.equal(
        await refusalOf({ ...strict, ...spec }),
        `pods "refused" is forbidden: ${what} ${why} secret`,
      );
    }
    assert.equal(
      await refusalOf({ ...strict, imagePullSecrets: [{ name: 'pull' }, { name: 'other' }] }),
      `pods "refused" is forbidden: imagePullSecrets[1].name="other" ${why} imagePullSecret`,
    );
  });

  test('lets them have those that it names, and checks ephemeral containers, too', async () => {
    const volumes = [{ name: 'v', secret: { secretName: 'known' } }];
    const body = {
      ...named('strict'),
      spec: {
        ...strict,
        volumes,
        containers: [{ ...container, env: env('known'), envFrom: envFrom('known') }],
      },
    };
    const made = await admin.must('POST', pods, body);
    const put = (name: string) => ({
      ...made,
      spec: { ...made.spec, ephemeralContainers: [{ ...container, name: 'e', env: env(name) }] },
    });
    const { message } = await admin.refused('Forbidden', 'PUT', `${pods}/strict/ephemeralcontainers`, {
      body: put('other'),
    });
    assert.equal(
      message,
      `pods "strict" is forbidden: ephemeral container e with envVar V referencing secret.secretName="other" ${why} secret`,
    );
    await admin.must('PUT', `${pods}/strict/ephemeralcontainers`, put('known'));
  });
});
