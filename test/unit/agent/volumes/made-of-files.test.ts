import assert from 'node:assert/strict';
import { mkdir, readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { formatMap } from '../../../../src/agent/volumes/kinds/downward-files.ts';
import { userOf } from '../../../../src/agent/volumes/kinds/projected.ts';
import { temporaryFolder, waitFor } from '../../../support/index.ts';
import { volumesOfObjects } from './files-support.ts';
import type { Volume } from './support.ts';
import { podId, podWith, stateOf } from './support.ts';

type Source = Omit<Volume, 'name'>;
type Made = Awaited<ReturnType<typeof volumesOfObjects>>;
type Spec = NonNullable<Parameters<typeof podWith>[2]>;

const asRoot = { skip: process.geteuid?.() === 0 ? false : 'giving files away needs root' };
const pod = (source: Source, spec: Spec = {}) => podWith([{ name: 'v', ...source }], undefined, spec);

/** The message of a volume that cannot be mounted, without its beginning. */
async function refusal(made: Made, source: Source): Promise<string> {
  const state = await stateOf(made.volumes, pod(source));
  assert.ok(state.state === 'waiting', 'it is mounted');
  assert.equal(state.reason, 'FailedMount');
  return state.message.replace('MountVolume.SetUp failed for volume "v" : ', '');
}

const ready = { state: 'ready' };
const octal = async (path: string) => ((await stat(path)).mode & 0o7777).toString(8);

describe('a volume of a ConfigMap', () => {
  test('has a file for each key, which containers only read', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { 'app.conf': 'a=1', empty: '' }, { bin: Buffer.from([0, 255, 10]) });
    assert.deepEqual(await stateOf(made.volumes, pod({ configMap: { name: 'c' } })), ready);
    const seen = await made.seen('configmap');
    assert.deepEqual(Object.keys(seen), ['app.conf', 'bin', 'empty']);
    assert.equal(seen['app.conf'], 'a=1');
    assert.equal((await stat(join(made.pathOf('configmap'), 'bin'))).size, 3);
    assert.equal(await octal(join(made.pathOf('configmap'), 'bin')), '644');
    assert.equal(await octal(made.pathOf('configmap')), '777');
    const [mount] = await made.volumes.mountsOf(pod({ configMap: { name: 'c' } }), 'main');
    assert.deepEqual([mount?.hostPath, mount?.isReadOnly], [made.pathOf('configmap'), true]);
  });

  test('that is not there is reported at each try, and with new words when something else is missing', async () => {
    await using made = await volumesOfObjects();
    const failed = (what: string) => `Warning FailedMount: MountVolume.SetUp failed for volume "v" : ${what}`;
    const wanted = pod({ configMap: { name: 'c', items: [{ key: 'a', path: 'a' }] } });
    assert.equal((await stateOf(made.volumes, wanted)).state, 'waiting');
    assert.deepEqual(made.events, [failed('configmap "c" not found')]);
    await made.clock.advance(1000);
    await waitFor('another try', () => made.events.length > 1);
    assert.deepEqual(new Set(made.events), new Set([failed('configmap "c" not found')]));
    made.objects.setConfigMap('c', { b: '1' });
    await waitFor('the other reason', () =>
      made.events.at(-1)?.includes('references non-existent config key: a'),
    );
    made.objects.setConfigMap('c', { a: '1' });
    await waitFor('the volume', () => made.volumes.want(wanted).state === 'ready');
  });

  test('whose folder was made half is made whole', asRoot, async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    await mkdir(made.pathOf('configmap'), { recursive: true, mode: 0o700 });
    const spec = { securityContext: { fsGroup: 77 } };
    assert.deepEqual(await stateOf(made.volumes, pod({ configMap: { name: 'c' } }, spec)), ready);
    assert.equal(await octal(made.pathOf('configmap')), '2777');
    assert.equal((await stat(made.pathOf('configmap'))).gid, 77);
  });

  test('has the items that it names, with their paths and modes', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1', b: '2' });
    const items = [
      { key: 'a', path: 'deep/er/a', mode: 0o400 },
      { key: 'a', path: 'again' },
      { key: 'none', path: 'x' },
    ];
    const source = { configMap: { name: 'c', items, defaultMode: 0o444, optional: true } };
    assert.deepEqual(await stateOf(made.volumes, pod(source)), ready);
    assert.deepEqual(await made.seen('configmap'), { again: '1', 'deep/er/a': '1' });
    assert.equal(await octal(join(made.pathOf('configmap'), 'deep/er/a')), '400');
    assert.equal(await octal(join(made.pathOf('configmap'), 'again')), '444');
  });

  const there = { key: 'a', path: 'p' };
  const refused: [what: string, source: Source, message: string][] = [
    ['one that is not there', { configMap: { name: 'none' } }, 'configmap "none" not found'],
    [
      'a key that is not there',
      { configMap: { name: 'c', items: [there, { key: 'k', path: 'p' }] } },
      'configmap references non-existent config key: k',
    ],
    [
      'a path upwards',
      { configMap: { name: 'c', items: [{ ...there, path: '../x' }] } },
      "invalid path: must not contain '..': ../x",
    ],
    ['a secret that is not there', { secret: { secretName: 'none' } }, 'secret "none" not found'],
    [
      'a key of a secret',
      { secret: { secretName: 's', items: [{ key: 'k', path: 'p' }] } },
      'references non-existent secret key: k',
    ],
    [
      'several sources',
      { projected: { sources: [{ configMap: { name: 'none' } }, { secret: { name: 'none' } }] } },
      '[configmap "none" not found, secret "none" not found]',
    ],
    [
      'a trust bundle that is not there',
      { projected: { sources: [{ clusterTrustBundle: { path: 'p', name: 'b' } }] } },
      'while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "b" not found',
    ],
    [
      'a signer without bundles',
      { projected: { sources: [{ clusterTrustBundle: { path: 'p', signerName: 's.io/a' } }] } },
      'combination of signerName and labelSelector matched zero ClusterTrustBundles',
    ],
    [
      'a trust bundle of an API that has none',
      { projected: { sources: [{ clusterTrustBundle: { path: 'p', name: 'unserved' } }] } },
      'the API serves no ClusterTrustBundles (certificates.k8s.io/v1beta1), which the volume needs',
    ],
    [
      'a source that is not known',
      { projected: { sources: [{ podCertificate: { signerName: 's.io/a', keyType: 'ED25519' } }] } },
      'this agent does not mount sources of the kind podCertificate in projected volumes',
    ],
    [
      'a field that a pod has not',
      { downwardAPI: { items: [{ path: 'p', fieldRef: { fieldPath: 'status.phase' } }] } },
      'unsupported fieldPath: status.phase',
    ],
  ];
  for (const [what, source, message] of refused)
    test(`${what} is refused, and nothing is made`, async () => {
      await using made = await volumesOfObjects();
      made.objects.setConfigMap('c', { a: '1' });
      made.objects.setSecret('s', { a: '1' });
      made.objects.putAnchors('unserved', { state: 'absent' });
      assert.equal(await refusal(made, source), message);
      assert.deepEqual(await readdir(join(made.rootDir, 'pods')).catch(() => []), []);
    });

  test('that may be missing is empty while it is', async () => {
    await using made = await volumesOfObjects();
    const source = { configMap: { name: 'c', optional: true } };
    assert.deepEqual(await stateOf(made.volumes, pod(source)), ready);
    assert.deepEqual(await made.seen('configmap'), {});
    assert.equal(made.volumes.contentsOf('u1')[0]?.shows, 'configmap default/c, which is not there');
  });

  test('that the API refuses to show says why', async () => {
    await using made = await volumesOfObjects();
    made.objects.putConfigMap('c', { state: 'refused', message: 'configmaps "c" is forbidden: no' });
    assert.equal(await refusal(made, { configMap: { name: 'c' } }), 'configmaps "c" is forbidden: no');
  });

  test('is removed with the pod', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { a: '1' });
    await stateOf(made.volumes, pod({ configMap: { name: 'c', items: [{ key: 'a', path: 'b/c/d' }] } }));
    await made.volumes.release(podId);
    assert.deepEqual(await readdir(join(made.rootDir, 'pods/u1')), []);
    assert.deepEqual(made.volumes.contentsOf('u1'), []);
  });
});

describe('a volume with files that only some may read', () => {
  test('a secret: its keys, in memory', async () => {
    await using made = await volumesOfObjects();
    made.objects.setSecret('s', { password: 'p' });
    assert.deepEqual(
      await stateOf(made.volumes, pod({ secret: { secretName: 's', defaultMode: 0o400 } })),
      ready,
    );
    assert.deepEqual(await made.seen('secret'), { password: 'p' });
    assert.equal(await octal(join(made.pathOf('secret'), 'password')), '400');
    assert.match(made.calls.join('\n'), /^mount -n --no-canonicalize -t tmpfs -o mode=777(,noswap)? tmpfs/m);
  });

  test('is not written where nothing keeps it in memory', async (t) => {
    await using onDisk = await temporaryFolder('volumes-');
    if ((await statfs(onDisk.path)).type === 0x01021994) return t.skip('temporary files are in memory here');
    await using made = await volumesOfObjects({ rootDir: onDisk.path });
    made.objects.setSecret('s', { password: 'p' });
    assert.match(
      await refusal(made, { secret: { secretName: 's' } }),
      /\/v is not in memory though a tmpfs was mounted there$/,
    );
    const volume = join(onDisk.path, 'pods/u1/volumes/kubernetes.io~secret/v');
    assert.deepEqual(await readdir(volume), []);
  });

  test('a token: of whom all containers are, and of the group', asRoot, async () => {
    const source: Source = {
      projected: {
        sources: [{ serviceAccountToken: { path: 'token', audience: 'a', expirationSeconds: 700 } }],
      },
    };
    const cases: [spec: Spec, expected: [mode: string, uid: number, gid: number]][] = [
      [{}, ['644', 0, 0]],
      [{ securityContext: { runAsUser: 1000 } }, ['600', 1000, 0]],
      [{ securityContext: { fsGroup: 77 } }, ['640', 0, 77]],
      [{ securityContext: { runAsUser: 1000, fsGroup: 77 } }, ['640', 1000, 77]],
    ];
    for (const [spec, expected] of cases) {
      await using made = await volumesOfObjects();
      assert.deepEqual(await stateOf(made.volumes, pod(source, spec)), ready);
      const path = join(made.pathOf('projected'), 'token');
      const { uid, gid } = await stat(path);
      assert.deepEqual([await octal(path), uid, gid], expected, JSON.stringify(spec));
      assert.deepEqual(made.tokens.asked, [{ audience: 'a', expirationSeconds: 700 }]);
      assert.deepEqual(await made.seen('projected'), { token: 'token 1 of web for a' });
    }
  });

  test('a token that is refused says so', async () => {
    await using made = await volumesOfObjects();
    made.tokens.failure = new Error('failed to fetch token: serviceaccounts "default" not found');
    const source = { projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } };
    assert.equal(await refusal(made, source), 'failed to fetch token: serviceaccounts "default" not found');
  });

  test('whose user is that of all containers', () => {
    const container = (name: string, runAsUser?: number) => ({
      ...{ name, image: 'i' },
      ...(runAsUser === undefined ? {} : { securityContext: { runAsUser } }),
    });
    const of = (spec: Spec) => userOf({ spec: { containers: [], ...spec } });
    assert.equal(of({ containers: [container('a', 5), container('b', 5)] }), 5);
    assert.equal(of({ containers: [container('a', 5), container('b', 6)] }), undefined);
    assert.equal(of({ containers: [container('a', 5), container('b')] }), undefined);
    assert.equal(of({ containers: [container('a', 5)], initContainers: [container('b', 0)] }), undefined);
    assert.equal(
      of({ containers: [container('a'), container('b', 7)], securityContext: { runAsUser: 7 } }),
      7,
    );
  });
});

describe('a projected volume', () => {
  test('has the files of all its sources; of two at one path the later', async () => {
    await using made = await volumesOfObjects();
    made.objects.setConfigMap('c', { 'ca.crt': 'CA', both: 'c' });
    made.objects.setSecret('s', { both: 's' });
    made.objects.setAnchors('b', 'ANCHORS');
    const fieldRef = { fieldPath: 'metadata.namespace' };
    const sources = [
      { serviceAccountToken: { path: 'token' } },
      { configMap: { name: 'c' } },
      { secret: { name: 's' } },
      { downwardAPI: { items: [{ path: 'namespace', fieldRef, mode: 0o440 }] } },
      { clusterTrustBundle: { name: 'none', path: 'bundle', optional: true } },
      { clusterTrustBundle: { name: 'b', path: 'anchors.pem' } },
    ];
    assert.deepEqual(await stateOf(made.volumes, pod({ projected: { sources, defaultMode: 0o400 } })), ready);
    assert.deepEqual(await made.seen('projected'), {
      'anchors.pem': 'ANCHORS',
      both: 's',
      bundle: '',
      'ca.crt': 'CA',
      namespace: 'default',
      token: 'token 1 of web for ',
    });
    assert.equal(await octal(join(made.pathOf('projected'), 'token')), '400');
    assert.equal(await octal(join(made.pathOf('projected'), 'namespace')), '440');
    assert.equal(
      made.volumes.contentsOf('u1')[0]?.shows,
      'a token, configmap default/c version 1, secret default/s version 2, fields of the pod, no trust bundle none, trust bundle b version 3 with 1 certificate',
    );
  });

  test('says once what is wrong with several of its sources, and passes over one that names nothing', async () => {
    await using made = await volumesOfObjects();
    const sources = [{ configMap: { name: 'c' } }, {}, { configMap: { name: 'c', items: [] } }];
    assert.equal(await refusal(made, { projected: { sources } }), 'configmap "c" not found');
    await made.volumes.release(podId);
    made.objects.setConfigMap('c', { a: '1' });
    assert.deepEqual(await stateOf(made.volumes, pod({ projected: { sources } })), ready);
    assert.deepEqual(await made.seen('projected'), { a: '1' });
  });
});

describe('a volume with fields of the pod', () => {
  test('has its labels, annotations, names and resources', async () => {
    const node = { hostIps: [], allocatable: { memory: '64Mi' } };
    await using made = await volumesOfObjects({ downward: () => ({ podIps: [], node }) });
    const field = (fieldPath: string) => ({
      path: fieldPath.replaceAll(/[^a-z]/g, '-'),
      fieldRef: { fieldPath },
    });
    const items = [
      ...['metadata.labels', 'metadata.annotations', 'metadata.name', 'metadata.uid'].map(field),
      field("metadata.labels['app']"),
      {
        path: 'memory',
        resourceFieldRef: { resource: 'limits.memory', containerName: 'main', divisor: '1Mi' },
      },
    ];
    const plain = pod({ downwardAPI: { items } });
    const labels = { b: '2', app: 'web' };
    const annotations = { note: 'say "hi"\n\u0001ü\u200b' };
    await stateOf(made.volumes, { ...plain, metadata: { ...plain.metadata, labels, annotations } });
    assert.deepEqual(await made.seen('downward-api'), {
      memory: '64',
      'metadata-annotations': 'note="say \\"hi\\"\\n\\x01ü\\u200b"',
      'metadata-labels': 'app="web"\nb="2"',
      'metadata-labels--app--': 'web',
      'metadata-name': 'web',
      'metadata-uid': 'u1',
    });
  });

  test('writes what cannot be read as the reference does', () => {
    const cases: [text: string, written: string][] = [
      ['', '""'],
      ['a b\\c', '"a b\\\\c"'],
      ['\u0007\b\f\r\t\v\u007f', '"\\a\\b\\f\\r\\t\\v\\x7f"'],
      ['\u00a0\ufeff', '"\\u00a0\\ufeff"'],
      ['😀\u{e0001}', '"😀\\U000e0001"'],
      ['\ud800', '"\ufffd"'],
    ];
    for (const [text, written] of cases) assert.equal(formatMap({ k: text }), `k=${written}`);
    assert.equal(formatMap({ é: '', z: '', a: '' }), 'a=""\nz=""\né=""');
  });
});
