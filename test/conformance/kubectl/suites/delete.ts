import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { configMap, lease, pod } from '../manifests.ts';
import type { OpenShell, Shell } from '../shell.ts';
import { linesOf } from '../tables.ts';

/** An owner and something that it owns; the owner cannot go before that in the foreground. */
async function createFamily(shell: Shell): Promise<void> {
  await shell.ok('create -f -', configMap('owner'));
  const uid = await shell.ok('get configmap owner -o jsonpath={.metadata.uid}');
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid, blockOwnerDeletion: true };
  await shell.ok('create -f -', lease({ name: 'owned', ownerReferences: [owner] }));
}

const isGone = async (shell: Shell, what: string): Promise<boolean> =>
  (await shell.ok(`get ${what} --ignore-not-found -o name`)) === '';

export function deleteSuite(open: OpenShell): void {
  describe('delete', () => {
    test('by name, by file, by label, by field and all', async () => {
      await using shell = await open();
      const labels = { tier: 'web' };
      const leases = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) =>
        lease(name === 'c' || name === 'd' ? { name, labels } : name),
      );
      await shell.ok('create -f -', { apiVersion: 'v1', kind: 'List', items: leases });
      const said = (...names: string[]): string =>
        names.map((name) => `lease.coordination.k8s.io "${name}" deleted`).join('\n');
      const deletes = async (line: string, ...names: string[]): Promise<void> => {
        const lines = linesOf(await shell.ok(`delete ${line}`));
        const plain = lines.map((text) => text.replace(` from ${shell.namespace} namespace`, ''));
        assert.equal(plain.join('\n'), said(...names));
      };
      await deletes('lease a', 'a');
      await deletes(`-f ${await shell.file('b.json', lease('b'))}`, 'b');
      await deletes('leases -l tier=web', 'c', 'd');
      await deletes('leases --field-selector=metadata.name=e', 'e');
      await deletes('leases --all', 'f');
      assert.ok(await isGone(shell, 'leases'));
    });

    test('of something that is not there fails unless told otherwise', async () => {
      await using shell = await open();
      const said = 'Error from server (NotFound): configmaps "none" not found\n';
      assert.equal(await shell.fails('delete configmap none'), said);
      assert.equal(await shell.ok('delete configmap none --ignore-not-found'), '');
    });

    test('--cascade=background: what is owned goes after its owner', async () => {
      await using shell = await open();
      await createFamily(shell);
      await shell.ok('delete configmap owner --cascade=background');
      await waitFor('the lease to go', () => isGone(shell, 'lease owned'));
    });

    test('--cascade=foreground: what is owned goes before its owner', async () => {
      await using shell = await open();
      await createFamily(shell);
      await shell.ok('delete configmap owner --cascade=foreground');
      assert.ok(await isGone(shell, 'lease owned'));
      assert.ok(await isGone(shell, 'configmap owner'));
    });

    test('--cascade=orphan: what is owned stays, and forgets its owner', async () => {
      await using shell = await open();
      await createFamily(shell);
      await shell.ok('delete configmap owner --cascade=orphan');
      assert.ok(await isGone(shell, 'configmap owner'));
      assert.equal(await shell.ok('get lease owned -o jsonpath={.metadata.ownerReferences}'), '');
    });

    test('--wait returns when the last finalizer is gone, and not before', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap({ name: 'held', finalizers: ['example.com/hold'] }));
      await using deleting = await shell.start('delete configmap held --wait=true');
      await deleting.waitForOutput(/^configmap "held" deleted/m);
      const held = await shell.get('configmap held');
      assert.match(JSON.stringify(held), /"deletionTimestamp":"/);
      assert.equal(deleting.exit, undefined);
      await shell.ok('replace -f -', configMap('held'));
      assert.deepEqual(await deleting.exited, { code: 0, signal: null }, deleting.stderr);
      assert.ok(await isGone(shell, 'configmap held'));
    });

    test('--wait=false returns at once', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap({ name: 'held', finalizers: ['example.com/hold'] }));
      await shell.ok('delete configmap held --wait=false');
      await shell.ok('replace -f -', configMap('held'));
      assert.ok(await isGone(shell, 'configmap held'));
    });

    test('--grace-period and --now: a pod on a node is given its time', async () => {
      await using shell = await open();
      await shell.ok('create -f -', pod('web', { nodeName: 'somewhere' }));
      const seconds = 'get pod web -o jsonpath={.metadata.deletionGracePeriodSeconds}';
      await shell.ok('delete pod web --wait=false');
      assert.equal(await shell.ok(seconds), '30');
      await shell.ok('delete pod web --wait=false --grace-period=5');
      assert.equal(await shell.ok(seconds), '5');
      await shell.ok('delete pod web --wait=false --now');
      assert.equal(await shell.ok(seconds), '1');
      assert.match(await shell.ok('delete pod web --grace-period=0 --force'), /^pod "web" force deleted/);
      assert.ok(await isGone(shell, 'pod web'));
    });

    test('a namespace goes with all that is in it', async () => {
      await using shell = await open();
      const name = `${shell.namespace}-going`;
      await shell.ok(`create namespace ${name}`);
      await shell.ok(`create -n ${name} -f -`, configMap('one'));
      await shell.ok(`create -n ${name} -f -`, pod('two'));
      await shell.ok(`delete namespace ${name}`);
      assert.ok(await isGone(shell, `namespace ${name}`));
      await shell.ok(`create namespace ${name}`);
      assert.ok(await isGone(shell, `pods -n ${name}`));
    });
  });
}
