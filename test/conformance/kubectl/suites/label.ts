import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterKinds, listOf, oneOfEachKind } from '../each-kind.ts';
import { configMap } from '../manifests.ts';
import type { OpenShell } from '../shell.ts';
import { linesOf } from '../tables.ts';

const commands = [
  { command: 'label', field: '.metadata.labels', done: 'labeled' },
  { command: 'annotate', field: '.metadata.annotations', done: 'annotated' },
] as const;

export function labelSuite(open: OpenShell): void {
  for (const { command, field, done } of commands) {
    describe(command, () => {
      test('adds, overwrites only when told to, removes, and lists', async () => {
        await using shell = await open();
        await shell.ok('create -f -', configMap('one'));
        assert.equal(
          await shell.ok(`${command} configmap one app=web tier=front`),
          `configmap/one ${done}\n`,
        );
        const refused = await shell.fails(`${command} configmap one app=other`);
        assert.match(refused, /'app' already has a value \(web\)/);
        await shell.ok(`${command} configmap one --overwrite app=other tier-`);
        assert.deepEqual(await shell.pick('configmap one', field), { app: 'other' });
        assert.equal(await shell.ok(`${command} configmap one --list`), 'app=other\n');
        await shell.ok(`${command} configmap one app-`);
        assert.equal(await shell.pick('configmap one', field), undefined);
      });

      test('all, those with a label, and only if the object is still the same', async () => {
        await using shell = await open();
        const labels = { app: 'web' };
        await shell.ok('create -f -', listOf([configMap({ name: 'one', labels }), configMap('two')]));
        const all = await shell.ok(`${command} configmaps --all seen=yes`);
        const given = all
          .trim()
          .split('\n')
          .filter((line) => !line.includes('kube-root-ca.crt'));
        assert.deepEqual(given, [`configmap/one ${done}`, `configmap/two ${done}`]);
        assert.equal(await shell.ok(`${command} configmaps -l app=web more=yes`), `configmap/one ${done}\n`);
        const stale = await shell.fails(`${command} configmap one --resource-version=1 x=y`);
        assert.match(stale, /\(Conflict\).*the object has been modified/);
        const version = await shell.ok('get configmap two -o jsonpath={.metadata.resourceVersion}');
        await shell.ok(`${command} configmap two --resource-version=${version} x=y`);
        assert.partialDeepStrictEqual(await shell.pick('configmap two', field), { seen: 'yes', x: 'y' });
      });

      test('tries only', async () => {
        await using shell = await open();
        await shell.ok('create -f -', configMap('one'));
        for (const how of ['client', 'server']) {
          const said = await shell.ok(`${command} configmap one --dry-run=${how} a=b`);
          assert.ok(said.startsWith(`configmap/one ${done}`), said);
        }
        assert.equal(await shell.pick('configmap one', field), undefined);
      });

      test('takes every kind', async () => {
        await using shell = await open();
        const [namespace, ...others] = await oneOfEachKind(shell);
        assert.ok(namespace);
        await shell.ok('create -f -', listOf(others));
        const said = linesOf(await shell.ok(`${command} -f - seen=yes`, listOf([namespace, ...others])));
        assert.equal(said.filter((line) => line.endsWith(` ${done}`)).length, others.length + 1);
        await shell.ok(`delete ${clusterKinds} ${shell.namespace}`);
      });
    });
  }
}
