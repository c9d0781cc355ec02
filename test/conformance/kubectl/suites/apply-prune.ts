import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { listOf } from '../each-kind.ts';
import { configMap, secret } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';

const web = (name: string) => ({ name, labels: { app: 'web' } });

/** Without what the control plane puts into every namespace. */
const own = '--field-selector=metadata.name!=kube-root-ca.crt';

/**
 * Pruning deletes what was applied before and is no longer. Without a list of kinds kubectl takes its own, and ends when
 * a server has not all of them, so the kinds are named here.
 */
export function pruneSuite(open: OpenShell, { minor }: Release): void {
  const allow = minor < 26 ? '--prune-whitelist' : '--prune-allowlist';

  describe('apply --prune', () => {
    test('deletes what was applied before and is no longer', async () => {
      await using shell = await open();
      const all = [configMap(web('one')), configMap(web('two')), secret(web('three'))];
      await shell.ok('apply -f -', listOf([...all, configMap('of-no-app')]));
      await shell.ok('create -f -', configMap(web('made-otherwise')));
      const prune = `apply -f - --prune -l app=web ${allow}=core/v1/ConfigMap`;
      const dry = await shell.ok(`${prune} --dry-run=server`, listOf(all.slice(0, 1)));
      assert.match(dry, /^configmap\/two pruned \(server dry run\)$/m);
      const said = await shell.ok(prune, listOf(all.slice(0, 1)));
      assert.match(said, /^configmap\/two pruned$/m);
      const left = (await shell.ok(`get configmaps,secrets -o name ${own}`)).trim().split('\n');
      assert.deepEqual(left, [
        ...['configmap/made-otherwise', 'configmap/of-no-app', 'configmap/one'],
        'secret/three',
      ]);
    });

    if (minor < 26) return;
    test('does not go with --server-side, and kubectl says so', async () => {
      await using shell = await open();
      const prune = `apply --server-side -f - --prune -l app=web ${allow}=core/v1/ConfigMap`;
      const refused = await shell.fails(prune, configMap(web('one')));
      assert.match(refused, /--prune .*doesn't (currently )?work on objects created by server-side apply/);
    });
  });

  if (minor < 27) return;
  describe('apply --applyset', () => {
    test('keeps a list of what was applied, and deletes what is no longer', async () => {
      await using shell = await open();
      const env = { KUBECTL_APPLYSET: 'true' };
      const apply = (names: string[]) =>
        shell.ok(
          `apply --namespace=${shell.namespace} --prune --applyset=configmap/all --server-side -f -`,
          listOf(names.map((name) => configMap(name))),
          env,
        );
      await shell.ok('create configmap other');
      await apply(['one', 'two']);
      assert.match(await apply(['two', 'three']), /^configmap\/one pruned$/m);
      const left = (await shell.ok(`get configmaps -o name ${own}`)).trim().split('\n');
      assert.deepEqual(
        left,
        ['all', 'other', 'three', 'two'].map((name) => `configmap/${name}`),
      );
    });
  });
}
