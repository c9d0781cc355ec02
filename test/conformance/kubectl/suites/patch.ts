import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, node, role, roleBinding, serviceAccount } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { Input, OpenShell, Shell } from '../shell.ts';

/** `patch` with the patch as an argument. */
const patchLine = (what: string, body: Input, ...more: string[]): string[] => [
  'patch',
  ...what.split(' '),
  ...more,
  '-p',
  typeof body === 'string' ? body : JSON.stringify(body),
];

const secretsOf = (shell: Shell): Promise<string> =>
  shell.ok('get serviceaccount robot -o jsonpath={.secrets[*].name}');

export function patchSuite(open: OpenShell, { minor }: Release): void {
  describe('patch', () => {
    const robot = 'serviceaccount robot';
    const withSecrets = (...names: string[]) => ({ secrets: names.map((name) => ({ name })) });

    test('of each type', async () => {
      await using shell = await open();
      await shell.ok('create -f -', { ...serviceAccount('robot'), ...withSecrets('a') });
      const patched = 'serviceaccount/robot patched\n';
      assert.equal(await shell.ok(patchLine(robot, withSecrets('b'))), patched);
      assert.deepEqual((await secretsOf(shell)).split(' ').sort(), ['a', 'b']);
      assert.equal(
        await shell.ok(patchLine(robot, withSecrets('b'))),
        'serviceaccount/robot patched (no change)\n',
      );
      assert.equal(await shell.ok(patchLine(robot, withSecrets('c'), '--type=merge')), patched);
      assert.equal(await secretsOf(shell), 'c');
      const operations = [
        { op: 'test', path: '/secrets/0/name', value: 'c' },
        { op: 'add', path: '/secrets/-', value: { name: 'd' } },
      ];
      assert.equal(await shell.ok(patchLine(robot, operations, '--type=json')), patched);
      assert.equal(await secretsOf(shell), 'c d');
      await shell.ok(patchLine(robot, 'secrets:\n- name: e\n', '--type=strategic'));
      assert.equal((await secretsOf(shell)).split(' ').length, 3);
    });

    test('with the directives of a strategic one', async () => {
      await using shell = await open();
      const finalizers = ['example.com/one', 'example.com/two'];
      await shell.ok('create -f -', {
        ...serviceAccount({ name: 'robot', finalizers }),
        ...withSecrets('a', 'b', 'c'),
      });
      const body = {
        metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/two'] },
        '$setElementOrder/secrets': [{ name: 'c' }, { name: 'a' }],
        secrets: [{ $patch: 'delete', name: 'b' }],
      };
      await shell.ok(patchLine(robot, body));
      assert.equal(await secretsOf(shell), 'c a');
      assert.deepEqual(await shell.pick(robot, '.metadata.finalizers'), ['example.com/one']);
      const replace = { secrets: [{ $patch: 'replace' }, { name: 'x' }], metadata: { finalizers: null } };
      await shell.ok(patchLine(robot, replace));
      assert.equal(await secretsOf(shell), 'x');
      assert.equal(await shell.pick(robot, '.metadata.finalizers'), undefined);
      assert.match(
        await shell.fails(patchLine(robot, { metadata: { labels: { $patch: 'mangle' } } })),
        /metadata\.labels\.\$patch/,
      );
    });

    test('that fails says why and changes nothing', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1' }));
      await shell.ok('create -f -', role('reader', 'get'));
      await shell.ok('create -f -', roleBinding('crew', 'reader'));
      const before = await shell.ok('get configmap one -o json');
      const one = 'configmap one';
      const test = [
        { op: 'replace', path: '/data/a', value: '2' },
        { op: 'test', path: '/data/a', value: '1' },
      ];
      const other = await shell.fails(patchLine(one, test, '--type=json'));
      assert.match(other, /"one" is invalid: patch: operation 1 \(test \/data\/a\)/);
      const missing = [{ op: 'remove', path: '/data/none' }];
      assert.match(await shell.fails(patchLine(one, missing, '--type=json')), /remove \/data\/none/);
      const stale = { metadata: { resourceVersion: '1' }, data: { a: '2' } };
      assert.match(await shell.fails(patchLine(one, stale, '--type=merge')), /\(Conflict\)/);
      assert.match(await shell.fails(patchLine(one, { data: ['a'] }, '--type=merge')), /data/);
      assert.match(await shell.fails(patchLine(one, { metadata: { name: 'two' } })), /name/);
      const misnamed = await shell.fails(patchLine('configmap none', { data: {} }));
      assert.match(misnamed, /\(NotFound\): configmaps "none" not found/);
      const roleRef = { roleRef: { name: 'writer' } };
      assert.match(await shell.fails(patchLine('rolebinding crew', roleRef)), /cannot change roleRef/);
      assert.equal(await shell.ok('get configmap one -o json'), before);
    });

    test('tried only, shown, from a file, and of an object in a file', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1' }));
      const line = patchLine('configmap one', { data: { a: '2' } });
      for (const how of ['client', 'server']) {
        assert.match(await shell.ok([...line, `--dry-run=${how}`]), /^configmap\/one patched/);
      }
      assert.match(await shell.ok([...line, '--dry-run=server', '-o', 'yaml']), /^ {2}a: "2"$/m);
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '1' });
      assert.match(await shell.ok([...line, '-o', 'yaml']), /^ {2}a: "2"$/m);
      const file = await shell.file('one.json', configMap('one', { a: '3' }));
      assert.match(await shell.ok(`patch --local -f ${file} -p {"data":{"b":"4"}} -o yaml`), /^ {2}b: "4"$/m);
      await shell.ok(`patch -f ${file} -p {"data":{"b":"5"}}`);
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '2', b: '5' });
      await shell.ok(`patch configmap one --patch-file=${await shell.file('patch.yaml', 'data: {c: "6"}')}`);
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '2', b: '5', c: '6' });
    });

    test('is known by the name of its manager', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1' }));
      await shell.ok('patch configmap one --field-manager=ann -p {"data":{"b":"2"}}');
      const path = '.metadata.managedFields[?(@.manager=="ann")].fieldsV1';
      assert.deepEqual(await shell.pick('configmap one', path), { 'f:data': { 'f:b': {} } });
    });

    if (minor >= 24) {
      test('--subresource changes the status, and the status alone', async () => {
        await using shell = await open();
        const name = shell.namespace;
        await shell.ok('create -f -', node(name));
        const body = { spec: { unschedulable: true }, status: { capacity: { cpu: '4' } } };
        await shell.ok(patchLine(`node ${name}`, body, '--subresource=status'));
        assert.deepEqual(await shell.pick(`node ${name}`, '.status.capacity'), { cpu: '4' });
        assert.equal(await shell.ok(`get node ${name} -o jsonpath={.spec.unschedulable}`), '');
        await shell.ok(patchLine(`node ${name}`, { status: { capacity: { cpu: '5' } } }));
        assert.deepEqual(await shell.pick(`node ${name}`, '.status.capacity'), { cpu: '4' });
        const merge = { status: { capacity: { memory: '1Gi' } } };
        await shell.ok(patchLine(`node ${name}`, merge, '--subresource=status', '--type=merge'));
        const memory = [{ op: 'remove', path: '/status/capacity/cpu' }];
        await shell.ok(patchLine(`node ${name}`, memory, '--subresource=status', '--type=json'));
        assert.deepEqual(await shell.pick(`node ${name}`, '.status.capacity'), { memory: '1Gi' });
        await shell.ok(`delete node ${name}`);
      });

      test('debug adds a container to a running pod', async () => {
        await using shell = await open();
        await shell.ok('run web --image=busybox');
        await shell.ok('debug web --image=busybox:2 --container=probe --attach=false');
        const found = await shell.ok('get pod web -o jsonpath={.spec.ephemeralContainers[*].image}');
        assert.equal(found, 'busybox:2');
      });
    }
  });
}
