import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isRecord } from '../../../../src/base/index.ts';
import { waitFor } from '../../../support/index.ts';
import type { Manifest } from '../manifests.ts';
import type { OpenShell, Shell } from '../shell.ts';

const selector = { matchLabels: { app: 'web' } };
const updateStrategy = { type: 'RollingUpdate' };

const template = (nodeSelector: object = {}) => ({
  metadata: { labels: selector.matchLabels },
  spec: { containers: [{ name: 'main', image: 'one' }], nodeSelector },
});

const statefulSet: Manifest = {
  apiVersion: 'apps/v1',
  kind: 'StatefulSet',
  metadata: { name: 'web' },
  spec: { replicas: 2, serviceName: 'web', selector, updateStrategy, template: template() },
};

/** Of the one node of the shell. */
const daemonSet = ({ namespace }: Shell): Manifest => ({
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'web' },
  spec: { selector, updateStrategy, template: template({ shell: namespace }) },
});

const nodeOf = ({ namespace }: Shell): Manifest => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: namespace, labels: { shell: namespace } },
});

/** What agents report of the pods that nobody has reported of. They have no nodes, so they are gone when they are deleted. */
async function runPods(shell: Shell): Promise<void> {
  const list = await shell.get('pods');
  const items = isRecord(list) && Array.isArray(list['items']) ? list['items'] : [];
  for (const pod of items) {
    if (pod.status?.phase === 'Running') continue;
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    const path = `/api/v1/namespaces/${shell.namespace}/pods/${pod.metadata?.name}/status`;
    await shell.run(`replace --raw ${path} -f -`, { ...pod, status }); // it may be gone by now
  }
}

/** Runs what comes until `rollout status` has ended; answers what it said. */
async function rollOut(shell: Shell, what: string): Promise<string> {
  let isOver = false;
  const status = shell.ok(`rollout status ${what} --timeout=60s`).finally(() => {
    isOver = true;
  });
  while (!isOver) await runPods(shell);
  return await status;
}

const images = (shell: Shell) =>
  shell.ok(['get', 'pods', '-o', 'jsonpath={.items[*].spec.containers[0].image}']);

/** The numbers that `rollout history` lists. */
async function revisions(shell: Shell, what: string): Promise<string[]> {
  const lines = (await shell.ok(`rollout history ${what}`)).split('\n');
  return lines.flatMap((line) => /^(\d+) /.exec(line)?.[1] ?? []);
}

/** A new image, the history, back again, and a restart. */
async function checkRollouts(shell: Shell, what: string, shown: string, count: number): Promise<void> {
  const all = (image: string) => Array.from({ length: count }, () => image).join(' ');
  await rollOut(shell, what);
  assert.equal(await images(shell), all('one'));
  await shell.ok(`set image ${what} main=two`);
  await rollOut(shell, what);
  assert.equal(await images(shell), all('two'));
  assert.deepEqual(await revisions(shell, what), ['1', '2']);
  assert.match(await shell.ok(`rollout history ${what} --revision=1`), /Image:\s+one/);
  assert.match(await shell.ok(`rollout history ${what} --revision=2`), /Image:\s+two/);
  assert.equal(await shell.ok(`rollout undo ${what}`), `${shown} rolled back\n`);
  await rollOut(shell, what);
  assert.equal(await images(shell), all('one'));
  assert.deepEqual(await revisions(shell, what), ['2', '3']);
  await shell.ok(`rollout undo ${what} --to-revision=2`);
  await rollOut(shell, what);
  assert.equal(await images(shell), all('two'));
  const before = await shell.ok('get pods -o jsonpath={.items[*].metadata.uid}');
  assert.equal(await shell.ok(`rollout restart ${what}`), `${shown} restarted\n`);
  await rollOut(shell, what);
  const after = await shell.ok('get pods -o jsonpath={.items[*].metadata.uid}');
  assert.ok(!before.split(' ').some((uid) => after.includes(uid)), 'each pod is another one');
}

/** Deleted without its pods, made again, and deleted with them. */
async function checkCascades(shell: Shell, what: string, manifest: Manifest): Promise<void> {
  const owners = 'get pods -o jsonpath={.items[*].metadata.ownerReferences[*].name}';
  const names = await shell.ok('get pods -o name');
  await shell.ok(`delete ${what} --cascade=orphan`);
  assert.equal(await shell.ok('get pods -o name'), names);
  assert.equal(await shell.ok(owners), '');
  await shell.ok('create -f -', manifest);
  await rollOut(shell, what);
  assert.match(await shell.ok(owners), /web/);
  await shell.ok(`delete ${what}`);
  const left = () => shell.ok('get pods,controllerrevisions -o name');
  await waitFor('the end of the pods and the history', async () => (await left()) === '');
}

export function rolloutSetsSuite(open: OpenShell): void {
  describe('rollout of sets', () => {
    test('a StatefulSet: status, history, undo, restart, scale, delete', async () => {
      await using shell = await open();
      await shell.ok('create -f -', statefulSet);
      await checkRollouts(shell, 'statefulset/web', 'statefulset.apps/web', 2);
      await shell.ok('scale statefulset/web --replicas=3');
      await rollOut(shell, 'statefulset/web');
      assert.equal(await shell.ok('get pods -o name'), 'pod/web-0\npod/web-1\npod/web-2\n');
      assert.match(await shell.ok('get statefulset web'), /^web +3\/3 /m);
      await shell.ok('scale statefulset/web --replicas=1');
      const pods = () => shell.ok('get pods -o name');
      await waitFor('the end of two pods', async () => (await pods()) === 'pod/web-0\n');
      await checkCascades(shell, 'statefulset/web', statefulSet);
    });

    test('a DaemonSet: status, history, undo, restart, delete', async () => {
      await using shell = await open();
      await shell.ok('create -f -', nodeOf(shell));
      await shell.ok('create -f -', daemonSet(shell));
      await checkRollouts(shell, 'daemonset/web', 'daemonset.apps/web', 1);
      assert.match(await shell.ok('get daemonset web'), /^web +1 +1 +1 +1 +1 +shell=/m);
      await checkCascades(shell, 'daemonset/web', daemonSet(shell));
      await shell.ok(`delete node ${shell.namespace}`);
    });
  });
}
