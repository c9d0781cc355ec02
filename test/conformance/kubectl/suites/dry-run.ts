import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap } from '../manifests.ts';
import type { OpenShell } from '../shell.ts';

export function dryRunSuite(open: OpenShell): void {
  describe('--dry-run=client', () => {
    test('sends nothing', async () => {
      await using shell = await open();
      const said = await shell.ok('create --dry-run=client -f -', configMap('one'));
      assert.equal(said, 'configmap/one created (dry run)\n');
      assert.equal(await shell.ok('get configmap one --ignore-not-found'), '');
      await shell.ok('create -f -', configMap('one'));
      assert.match(await shell.ok('delete configmap one --dry-run=client'), /\(dry run\)$/m);
      assert.equal(await shell.ok('get configmap one -o name'), 'configmap/one\n');
    });
  });

  // 1.20 looks for this parameter in the description of PATCH before it sends anything
  describe('--dry-run=server', () => {
    test('create answers what would be stored', async () => {
      await using shell = await open();
      const said = await shell.ok('create --dry-run=server -f -', configMap('one'));
      assert.equal(said, 'configmap/one created (server dry run)\n');
      const generated = configMap({ generateName: 'made-' });
      const yaml = await shell.ok('create --dry-run=server -o yaml -f -', generated);
      assert.match(yaml, /^ {2}name: made-\w{5}$/m);
      assert.match(yaml, /^ {2}uid: /m);
      assert.match(yaml, new RegExp(`^ {2}namespace: ${shell.namespace}$`, 'm'));
      const invalid = await shell.fails('create --dry-run=server -f -', configMap('Not_A_Name'));
      assert.match(invalid, /Invalid value: "Not_A_Name"/);
      assert.equal(await shell.ok('get configmap one --ignore-not-found'), '');
    });

    test('create of a kind by its name, and run', async () => {
      await using shell = await open();
      const lines: Record<string, string> = {
        'configmap one --from-literal=a=b': 'configmap/one',
        'secret generic one --from-literal=a=b': 'secret/one',
        'serviceaccount one': 'serviceaccount/one',
        'role one --verb=get --resource=pods': 'role.rbac.authorization.k8s.io/one',
        'rolebinding one --role=one --user=ann': 'rolebinding.rbac.authorization.k8s.io/one',
      };
      for (const [line, what] of Object.entries(lines)) {
        const said = await shell.ok(`create ${line} --dry-run=server`);
        assert.equal(said, `${what} created (server dry run)\n`);
      }
      assert.match(await shell.ok('run one --image=busybox --dry-run=server'), /^pod\/one created/);
      assert.equal(await shell.ok('get cm,secret,sa,role,rolebinding,pod one --ignore-not-found'), '');
    });

    test('replace and delete change nothing', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1' }));
      const before = await shell.ok('get configmap one -o json');
      const said = await shell.ok('replace --dry-run=server -f -', configMap('one', { a: '2' }));
      assert.equal(said, 'configmap/one replaced (server dry run)\n');
      assert.match(await shell.ok('delete configmap one --dry-run=server'), /\(server dry run\)$/m);
      assert.equal(await shell.ok('get configmap one -o json'), before);
    });
  });
}
