import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { listOf } from '../each-kind.ts';
import { configMap, node, role, roleBinding } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { Environment, OpenShell, Shell } from '../shell.ts';

/** What follows the line of a command whose editor carries out a command of sed. */
async function edited(shell: Shell, sed: string): Promise<[undefined, Environment]> {
  return [undefined, await shell.editor(sed)];
}

export function editSuite(open: OpenShell, { minor, program }: Release): void {
  describe('edit', () => {
    test('changes what was changed in the editor, in YAML or JSON, of one object or several', async () => {
      await using shell = await open();
      await shell.ok('create -f -', listOf([configMap('one', { colour: 'blue' }), configMap('two')]));
      const said = await shell.ok('edit configmap one', ...(await edited(shell, 's/blue/green/')));
      assert.equal(said, 'configmap/one edited\n');
      await shell.ok('edit configmap one -o json', ...(await edited(shell, 's/"green"/"red", "size": "7"/')));
      assert.deepEqual(await shell.pick('configmap one', '.data'), { colour: 'red', size: '7' });
      await shell.ok(
        'edit configmap one two',
        ...(await edited(shell, 's/^  metadata:/  immutable: true\\n&/')),
      );
      const immutable = await shell.ok('get configmap one two -o jsonpath={.items[*].immutable}');
      assert.equal(immutable, 'true true');
    });

    test('of no change changes nothing', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { colour: 'blue' }));
      const before = await shell.ok('get configmap one -o json');
      const { code, stdout, stderr } = await shell.run(
        'edit configmap one',
        ...(await edited(shell, 's/x/x/')),
      );
      assert.equal(code, 0, stderr);
      assert.match(stdout + stderr, /Edit cancelled, no changes made/);
      assert.equal(await shell.ok('get configmap one -o json'), before);
    });

    test('of what may not change shows the reason, and keeps what was typed', async () => {
      await using shell = await open();
      await shell.ok('create -f -', listOf([role('reader', 'get'), roleBinding('crew', 'reader')]));
      const refused = await shell.fails(
        'edit rolebinding crew',
        ...(await edited(shell, 's/reader/writer/')),
      );
      assert.match(refused, /rolebindings\S* "crew" (was not valid|is invalid)/);
      const [, copy = ''] = /A copy of your changes has been stored to "(.*)"/.exec(refused) ?? [];
      const kept = await readFile(copy, 'utf8');
      assert.match(kept, /^# (\* )?roleRef: Invalid value: .*cannot change roleRef/m);
      assert.match(kept, /^ {2}name: writer$/m);
      assert.equal(await shell.ok('get rolebinding crew -o jsonpath={.roleRef.name}'), 'reader');
    });

    test('of what another changes meanwhile leaves that as it is', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { ours: '1', theirs: '1' }));
      const script = await shell.file(
        'editor',
        `sed --in-place 's/ours: .*/ours: "2"/' "$1"
         "$KUBECTL" patch configmap one -p '{"data":{"theirs":"2"}}' >/dev/null`,
      );
      const env = { KUBE_EDITOR: `sh ${script}`, KUBECTL: program(), TMPDIR: dirname(script) };
      assert.equal(await shell.ok('edit configmap one', undefined, env), 'configmap/one edited\n');
      assert.deepEqual(await shell.pick('configmap one', '.data'), { ours: '2', theirs: '2' });
    });

    test('create --edit makes what came out of the editor', async () => {
      await using shell = await open();
      const file = await shell.file('one.yaml', configMap('one', { colour: 'blue' }));
      const said = await shell.ok(`create --edit -f ${file}`, ...(await edited(shell, 's/blue/green/')));
      assert.equal(said, 'configmap/one created\n');
      assert.deepEqual(await shell.pick('configmap one', '.data'), { colour: 'green' });
    });

    if (minor >= 24) {
      test('--subresource edits the status', async () => {
        await using shell = await open();
        const name = shell.namespace;
        await shell.ok('create -f -', node(name));
        await shell.ok(
          'replace --subresource=status -f -',
          node(name, { status: { capacity: { cpu: '4' } } }),
        );
        await shell.ok(
          `edit node ${name} --subresource=status`,
          ...(await edited(shell, 's/cpu:.*/cpu: "8"/')),
        );
        assert.deepEqual(await shell.pick(`node ${name}`, '.status.capacity'), { cpu: '8' });
        await shell.ok(`delete node ${name}`);
      });
    }
  });
}
