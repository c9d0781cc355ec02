/** What pods see of the API as files, told with real containers. Each story leaves the node as it was. */
import assert from 'node:assert/strict';
import { clusterTrustBundleKind, configMapKind, eventKind, secretKind } from '../../../src/api/index.ts';
import { createAuthority } from '../../../src/base/x509/index.ts';
import { waitFor } from '../../support/index.ts';
import { image } from '../lab/index.ts';
import { isRunningAndReady, uidOf, waitingReason } from './conditions.ts';
import type { PodSpec } from './containers.ts';
import { script } from './containers.ts';
import type { PodNode } from './pod-node.ts';
import { logOf, until } from './stories.ts';

const namespace = 'default';

const paths = [
  'config/conf',
  'secret/deep/password',
  'fields/labels',
  'all/conf',
  'all/name',
  'all/token',
  'all/anchors',
];
/** Prints path, rights and content of the files whenever something of that has changed. */
const watchFiles = `look() { for f in ${paths.join(' ')}; do
  echo "$f $(stat -L -c '%a %u %g' /files/$f) $(tr '\\n' ' ' < /files/$f)"; done; }
  last=; while :; do now=$(look); [ "$now" = "$last" ] || echo "$now"; last=$now; sleep 0.2; done`;

/** One pod with all kinds: what it sees, with which rights, and how it changes while it runs. */
export async function seesFiles(lab: PodNode): Promise<void> {
  const { api } = lab;
  const metadata = { namespace };
  await api.create(configMapKind, { metadata: { ...metadata, name: 'app' }, data: { conf: 'one' } });
  const password = Buffer.from('secret').toString('base64');
  await api.create(secretKind, { metadata: { ...metadata, name: 'db' }, data: { password } });
  const first = await addAuthority(lab, 'first');
  const pod = await lab.run('files', filesSpec(), { labels: { tier: 'web' } });
  await until(lab, 'it to run', pod, isRunningAndReady);
  const line = (path: string, text: string, mode = '640') => `${path} ${mode} 0 4321 ${text}`;
  const sees = (expected: string) =>
    waitFor(`it to see ${expected}`, async () => (await logOf(lab, pod)).includes(expected));
  await sees(line('config/conf', 'one', '644'));
  await sees(line('secret/deep/password', 'secret', '440'));
  await sees(line('fields/labels', 'tier="web"', '644'));
  await sees(line('all/conf', 'one', '644'));
  await sees(line('all/name', 'files', '644'));
  await waitFor('a token', async () => /all\/token 640 0 4321 ey/.test(await logOf(lab, pod)));
  const refused = 'cannot write';
  await sees(refused);
  const before = await api.get(configMapKind, 'app', { namespace });
  const startMs = performance.now();
  const { metadata: changed } = await api.replace(configMapKind, { ...before, data: { conf: 'two' } });
  await sees(line('config/conf', 'two', '644'));
  await sees(line('all/conf', 'two', '644'));
  assert.ok(performance.now() - startMs < 30_000);
  const version = `configmap default/app version ${changed?.resourceVersion}`;
  await waitFor('the explanation', async () => {
    const text = (
      await lab.kubectl.run(['get', '--raw', `/api/v1/nodes/${lab.name}/proxy/pods/explain/default/files`])
    ).stdout;
    return text.includes(`"shows":"${version}"`);
  });
  await waitFor('the Event', async () => {
    const { items } = await api.list(eventKind, { namespace });
    return items.some(({ reason, message }) => reason === 'VolumeUpdated' && message?.endsWith(version));
  });
  await sees(first);
  const addedMs = performance.now();
  const second = await addAuthority(lab, 'second');
  const both = async () => {
    const lines = (await logOf(lab, pod))
      .split('\n')
      .filter((each) => each.startsWith('all/anchors 640 0 4321'));
    return [first, second].every((each) => lines.at(-1)?.includes(each) === true);
  };
  await waitFor('both authorities', both);
  assert.ok(performance.now() - addedMs < 30_000);
  await lab.delete('files', 0);
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
  await api.delete(configMapKind, 'app', { namespace });
  await api.delete(secretKind, 'db', { namespace });
  for (const name of ['first', 'second']) await api.delete(clusterTrustBundleKind, bundleNameOf(name));
}

const signerName = 'example.com/lab';
const bundleNameOf = (name: string) => `example.com:lab:${name}`;

/** Adds a bundle to those of the signer; returns words that only its certificate has. */
async function addAuthority(lab: PodNode, name: string): Promise<string> {
  const { cert: trustBundle } = await createAuthority(name, 3600_000, Date.now());
  const spec = { signerName, trustBundle };
  await lab.api.create(clusterTrustBundleKind, { metadata: { name: bundleNameOf(name) }, spec });
  return trustBundle.trim().split('\n').at(-2) ?? assert.fail(trustBundle);
}

function filesSpec(): PodSpec {
  const mount = (name: string) => ({ name, mountPath: `/files/${name}` });
  const labels = { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } };
  const sources = [
    { configMap: { name: 'app' } },
    { serviceAccountToken: { path: 'token' } },
    { clusterTrustBundle: { signerName, labelSelector: {}, path: 'anchors' } },
    { downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
  ];
  const tryToWrite = `echo x > /files/config/conf || echo 'cannot write'; ${watchFiles}`;
  return {
    containers: [
      script('main', tryToWrite, { volumeMounts: ['config', 'secret', 'fields', 'all'].map(mount) }),
    ],
    securityContext: { fsGroup: 4321 },
    terminationGracePeriodSeconds: 0,
    volumes: [
      { name: 'config', configMap: { name: 'app' } },
      {
        name: 'secret',
        secret: { secretName: 'db', items: [{ key: 'password', path: 'deep/password', mode: 0o400 }] },
      },
      { name: 'fields', downwardAPI: { items: [labels] } },
      { name: 'all', projected: { sources } },
    ],
  };
}

/** A pod waits for what it names, says for what, and starts at once when that is made. */
export async function waitsForObject(lab: PodNode): Promise<void> {
  const pod = await lab.run('waiting', {
    containers: [
      script('main', 'cat /c/a; echo; sleep 3600', { volumeMounts: [{ name: 'c', mountPath: '/c' }] }),
    ],
    terminationGracePeriodSeconds: 0,
    volumes: [{ name: 'c', configMap: { name: 'later' } }],
  });
  const message = 'MountVolume.SetUp failed for volume "c" : configmap "later" not found';
  await waitFor('the Event', async () => {
    const { items } = await lab.api.list(eventKind, { namespace });
    return items.some((each) => each.reason === 'FailedMount' && each.message?.includes(message));
  });
  await until(lab, 'the reason', pod, (state) => waitingReason(state) === 'ContainerCreating');
  await lab.api.create(configMapKind, { metadata: { namespace, name: 'later' }, data: { a: 'made' } });
  await until(lab, 'it to run', pod, isRunningAndReady);
  await waitFor('its words', async () => (await logOf(lab, pod)) === 'made');
  await lab.delete('waiting', 0);
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
  await lab.api.delete(configMapKind, 'later', { namespace });
}

/** The files of an image, read-only. */
export async function mountsImages(lab: PodNode): Promise<void> {
  const pod = await lab.run('image', imageSpec(''));
  await until(lab, 'it to run', pod, isRunningAndReady);
  await waitFor('its words', async () => (await logOf(lab, pod)).includes('cannot write'));
  assert.match(await logOf(lab, pod), /^\/i\/bin\/sh$/m);
  await lab.delete('image', 0);
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
}

/** A runtime that cannot mount an image, or that part of it, is not asked to, and the pod says why. */
export async function refusesImage(lab: PodNode, subPath: string, message: string): Promise<void> {
  const pod = await lab.run('refused-image', imageSpec(subPath));
  await waitFor('the Event', async () => {
    const { items } = await lab.api.list(eventKind, { namespace });
    return items.some((each) => each.reason === 'FailedMount' && each.message?.includes(message));
  });
  await lab.delete('refused-image', 0);
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
}

function imageSpec(subPath: string): PodSpec {
  const tell = 'ls /i/bin/sh; echo x > /i/x || echo cannot write; sleep 3600';
  return {
    containers: [script('main', tell, { volumeMounts: [{ name: 'i', mountPath: '/i', subPath }] })],
    terminationGracePeriodSeconds: 0,
    volumes: [{ name: 'i', image: { reference: image, pullPolicy: 'IfNotPresent' } }],
  };
}
