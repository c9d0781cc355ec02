/** What the API gives to pods: the environment of their containers, and their volumes. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { configMapKind, secretKind, serviceKind } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode } from './pods/index.ts';
import {
  containerOf,
  until as findState,
  isRunningAndReady,
  logOf,
  mountsImages,
  refusesImage,
  script,
  seesFiles,
  sharedVolume,
  startPodNode,
  waitingReason,
  waitsForObject,
} from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

const until = (what: string, pod: Pod, fits: (pod: Pod) => boolean) => findState(lab, what, pod, fits);
const messageOf = (pod: Pod) => containerOf(pod)?.state?.waiting?.message ?? '';
const metadata = (name: string) => ({ name, namespace: 'default' });

test('a container has its environment from everywhere, as soon as all of it is there', async () => {
  await lab.api.create(serviceKind, {
    metadata: metadata('my-db'),
    spec: { clusterIP: '10.0.0.77', ports: [{ name: 'sql', port: 5432 }] },
  });
  await lab.api.create(secretKind, { metadata: metadata('keys'), stringData: { 'a.b': 'säcret' } });
  const [late, keys] = [{ name: 'late' }, { name: 'keys' }];
  const env = [
    { name: 'ONE', valueFrom: { configMapKeyRef: { ...late, key: 'one' } } },
    { name: 'NONE', valueFrom: { secretKeyRef: { ...keys, key: 'none', optional: true } } },
    { name: 'FILE', valueFrom: { fileKeyRef: { volumeName: 'shared', path: 'made.env', key: 'K' } } },
    { name: 'ALL', value: '$(ONE) $(S_a.b) $(FILE) $(MY_DB_SERVICE_PORT_SQL)$(NONE)' },
  ];
  const made = script('maker', `printf "K='from \\$HOME'\\n" > /shared/made.env`, {
    volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
  });
  const main = script('main', `echo "$ALL"; tr '\\000' '\\n' < /proc/1/environ; sleep 3600`, {
    ...{ env, envFrom: [{ prefix: 'S_', secretRef: keys }, { configMapRef: late }] },
  });
  const spec = { initContainers: [made], containers: [main], volumes: sharedVolume };
  const pod = await lab.run('given', spec);
  const waiting = await until(
    'the missing object',
    pod,
    (state) => messageOf(state) !== '' && waitingReason(state) === 'CreateContainerConfigError',
  );
  assert.equal(messageOf(waiting), 'configmap "late" not found');
  const { stdout: why } = await lab.kubectl.run([
    'get',
    '--raw',
    '/api/v1/nodes/lab/proxy/pods/explain/default/given',
  ]);
  assert.match(why, /configmap \\"late\\" not found/);

  const createdMs = performance.now();
  await lab.api.create(configMapKind, { metadata: metadata('late'), data: { one: '1', '2.': 'two' } });
  await until('it to run', pod, isRunningAndReady);
  const tookMs = performance.now() - createdMs;
  assert.ok(
    tookMs < 9000,
    `it ran ${tookMs} ms after the object was there, which is no earlier than by waiting`,
  );
  const lines = async () => (await logOf(lab, pod)).split('\n');
  for (const line of ['2.=two', 'one=1', 'S_a.b=säcret', 'MY_DB_PORT=tcp://10.0.0.77:5432'])
    await waitFor(`it to say ${line}`, async () => (await lines()).includes(line));
  assert.equal((await lines())[0], '1 säcret from $HOME 5432$(NONE)');
  await lab.delete('given', 0);
});

describe('the volumes of a pod', () => {
  test('show objects of the API and the pod itself as files, which change with them', () => seesFiles(lab));

  test('that are not there yet are waited for, and used as soon as they are', () => waitsForObject(lab));

  test('may be images', () => mountsImages(lab));

  test('may not be parts of images where the runtime would mount the whole', () =>
    refusesImage(
      lab,
      'bin',
      'cannot mount parts of images (subPath) as volumes: containerd 2.2 and later can',
    ));
});
