import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, lease, node } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';

export function waitSuite(open: OpenShell, { minor }: Release): void {
  describe('wait', () => {
    test('--for=delete returns when the object is gone', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap({ name: 'held', finalizers: ['example.com/hold'] }));
      await shell.ok('delete configmap held --wait=false');
      // its log tells when it watches; 1.20 fails when there is nothing to wait for
      await using waiting = await shell.start('wait configmap/held --for=delete --timeout=20s -v=6');
      await waiting.waitForOutput(/watch=true/);
      assert.equal(waiting.exit, undefined);
      await shell.ok('replace -f -', configMap('held'));
      assert.deepEqual(await waiting.exited, { code: 0, signal: null }, waiting.stderr);
      assert.equal(waiting.stdout, 'configmap/held condition met\n');
    });

    test('--for=condition returns when the condition holds, or when the time is up', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok('create -f -', node(name));
      const early = await shell.fails(`wait node/${name} --for=condition=Ready --timeout=1s`);
      assert.equal(early, `error: timed out waiting for the condition on nodes/${name}\n`);
      await using waiting = await shell.start(`wait node/${name} --for=condition=Ready --timeout=20s`);
      const ready = node(name, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
      await shell.ok(`replace --raw /api/v1/nodes/${name}/status -f -`, ready);
      assert.deepEqual(await waiting.exited, { code: 0, signal: null }, waiting.stderr);
      assert.equal(waiting.stdout, `node/${name} condition met\n`);
      await shell.ok(`wait node/${name} --for=condition=Ready=true --timeout=5s`);
    });

    if (minor >= 23) {
      test('--for=jsonpath returns when a field has its value', async () => {
        await using shell = await open();
        await shell.ok('create -f -', lease('one', 'ann'));
        const line = 'wait lease/one --for=jsonpath={.spec.holderIdentity}=bob --timeout=20s';
        await using waiting = await shell.start(line);
        await shell.ok('replace -f -', lease('one', 'bob'));
        assert.deepEqual(await waiting.exited, { code: 0, signal: null }, waiting.stderr);
      });
    }

    if (minor >= 31) {
      test('--for=create returns when there is one', async () => {
        await using shell = await open();
        await using waiting = await shell.start('wait lease/one --for=create --timeout=20s');
        await shell.ok('create -f -', lease('one'));
        assert.deepEqual(await waiting.exited, { code: 0, signal: null }, waiting.stderr);
      });
    }
  });
}
