import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { node, pod } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';

/** A node of the shell's name. */
async function openNode(open: OpenShell): Promise<Shell> {
  const shell = await open();
  await shell.ok('create -f -', node(shell.namespace));
  return shell;
}

export function nodesSuite(open: OpenShell, { minor }: Release): void {
  describe('taint', () => {
    test('adds, changes when told to, and removes', async () => {
      await using shell = await openNode(open);
      const name = shell.namespace;
      const taints = () => shell.pick(`node ${name}`, '.spec.taints');
      const said = await shell.ok(`taint nodes ${name} team=red:NoSchedule special:NoExecute`);
      assert.equal(said, `node/${name} tainted\n`);
      const again = await shell.fails(`taint nodes ${name} team=blue:NoSchedule`);
      assert.match(again, /already has team taint\(s\) with same effect\(s\) and --overwrite is false/);
      await shell.ok(`taint nodes ${name} team=blue:NoSchedule --overwrite`);
      assert.partialDeepStrictEqual(await taints(), [{ effect: 'NoSchedule', key: 'team', value: 'blue' }]);
      assert.equal(await shell.ok(`taint nodes ${name} special-`), `node/${name} untainted\n`);
      assert.deepEqual(await taints(), [{ effect: 'NoSchedule', key: 'team', value: 'blue' }]);
      await shell.ok(`taint nodes ${name} team:NoSchedule-`);
      assert.equal(await taints(), undefined);
      assert.match(await shell.fails(`taint nodes ${name} x=y:Nowhere`), /Nowhere/);
      await shell.ok(`delete node ${name}`);
    });
  });

  describe('cordon, uncordon and drain', () => {
    test('cordon and uncordon say whether pods may come', async () => {
      await using shell = await openNode(open);
      const name = shell.namespace;
      const schedulable = `get node ${name} -o jsonpath={.spec.unschedulable}`;
      assert.equal(
        await shell.ok(`cordon ${name} --dry-run=server`),
        `node/${name} cordoned (server dry run)\n`,
      );
      assert.equal(await shell.ok(`cordon ${name}`), `node/${name} cordoned\n`);
      assert.equal(await shell.ok(schedulable), 'true');
      assert.match(await shell.ok(`get node ${name}`), /SchedulingDisabled/);
      assert.equal(await shell.ok(`cordon ${name}`), `node/${name} already cordoned\n`);
      assert.equal(await shell.ok(`uncordon ${name}`), `node/${name} uncordoned\n`);
      assert.equal(await shell.ok(schedulable), '');
      await shell.ok(`delete node ${name}`);
    });

    test('drain takes the pods off a node and no others', async () => {
      await using shell = await openNode(open);
      const name = shell.namespace;
      for (const each of [pod('one', { nodeName: name }), pod('two', { nodeName: name }), pod('elsewhere')]) {
        await shell.ok('create -f -', each);
      }
      assert.match(await shell.fails(`drain ${name}`), /--force/);
      const said = await shell.ok(`drain ${name} --force --grace-period=0 --timeout=10s`);
      // 1.20 evicts by policy/v1beta1, and says of the node too that it was evicted, which it was not
      const end = minor >= 22 ? 'drained' : 'evicted';
      for (const line of ['pod/one evicted', 'pod/two evicted', `node/${name} ${end}`]) {
        assert.ok(said.split('\n').includes(line), `${line} is not in\n${said}`);
      }
      assert.equal(await shell.ok('get pods -o name'), 'pod/elsewhere\n');
      assert.equal(await shell.ok(`get node ${name} -o jsonpath={.spec.unschedulable}`), 'true');
      await shell.ok(`delete node ${name}`);
    });
  });
}
