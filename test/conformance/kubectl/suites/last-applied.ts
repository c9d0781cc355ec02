import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap } from '../manifests.ts';
import type { OpenShell } from '../shell.ts';

/** The note of what was applied that client-side apply leaves on an object. */
export function lastAppliedSuite(open: OpenShell): void {
  describe('apply view-last-applied, set-last-applied and edit-last-applied', () => {
    test('show what was applied, not what is there', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', configMap('one', { a: '1' }));
      await shell.ok('patch configmap one --type=merge -p {"data":{"b":"2"}}');
      assert.match(
        await shell.ok('apply view-last-applied configmap one'),
        /^data:\n {2}a: "1"\nkind: ConfigMap$/m,
      );
      const note: unknown = JSON.parse(await shell.ok('apply view-last-applied configmap one -o json'));
      assert.partialDeepStrictEqual(note, { kind: 'ConfigMap', data: { a: '1' } });
    });

    test('set the note without changing the object', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1', b: '2' }));
      const file = await shell.file('one.json', configMap('one', { b: '2' }));
      const refused = await shell.fails(`apply set-last-applied -f ${file}`);
      assert.match(refused, /no last-applied-configuration annotation found/);
      const said = await shell.ok(`apply set-last-applied --create-annotation -f ${file}`);
      assert.equal(said, 'configmap/one configured\n');
      // now b is known as applied, so it goes
      await shell.ok('apply -f -', configMap('one', { c: '3' }));
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '1', c: '3' });
    });

    test('edit the note in an editor', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', configMap('one', { colour: 'blue' }));
      const env = await shell.editor('s/blue/green/');
      await shell.ok('apply edit-last-applied configmap one', undefined, env);
      assert.match(await shell.ok('apply view-last-applied configmap one'), /colour: green/);
      assert.deepEqual(await shell.pick('configmap one', '.data'), { colour: 'blue' });
    });

    test('are left by create --save-config and replace --save-config', async () => {
      await using shell = await open();
      await shell.ok('create --save-config -f -', configMap('one', { a: '1', b: '2' }));
      const { stdout, stderr } = await shell.run('apply -f -', configMap('one', { a: '1' }));
      assert.deepEqual({ stdout, stderr }, { stdout: 'configmap/one configured\n', stderr: '' });
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '1' });
      await shell.ok('replace --save-config -f -', configMap('one', { c: '3' }));
      assert.match(await shell.ok('apply view-last-applied configmap one'), /^ {2}c: "3"$/m);
    });
  });
}
