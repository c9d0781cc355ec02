import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterKinds, labelled, listOf, oneOfEachKind } from '../each-kind.ts';
import { configMap, pod, role, roleBinding, serviceAccount } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';
import { linesOf } from '../tables.ts';

const named = (...names: string[]) => names.map((name) => ({ name }));

/** Client-side: kubectl compares what it applied before, what is there and what is wanted, and sends a patch. */
export function applySuite(open: OpenShell, { minor }: Release): void {
  describe('apply', () => {
    test('creates, then changes, adds and removes what it applied, and leaves what others wrote', async () => {
      await using shell = await open();
      const apply = (data: Record<string, string>) => shell.ok('apply -f -', configMap('one', data));
      assert.equal(await apply({ a: '1', b: '2' }), 'configmap/one created\n');
      assert.equal(await apply({ a: '1', b: '2' }), 'configmap/one unchanged\n');
      await shell.ok('patch configmap one --type=merge -p {"data":{"theirs":"3"}}');
      assert.equal(await apply({ a: '9', c: '4' }), 'configmap/one configured\n');
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '9', c: '4', theirs: '3' });
    });

    test('merges lists by their keys: others’ items stay, its own go when they are no longer applied', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', { ...serviceAccount('robot'), secrets: named('a', 'b') });
      await shell.ok('patch serviceaccount robot -p {"secrets":[{"name":"theirs"}]}');
      await shell.ok('apply -f -', { ...serviceAccount('robot'), secrets: named('c', 'a') });
      const found = await shell.ok('get serviceaccount robot -o jsonpath={.secrets[*].name}');
      assert.deepEqual(found.split(' ').sort(), ['a', 'c', 'theirs']);
    });

    test('changes the image of a running pod, and nothing that the server filled in', async () => {
      await using shell = await open();
      const web = (image: string) => pod('web', { containers: [{ name: 'main', image }] });
      await shell.ok('apply -f -', web('busybox:1'));
      const before = await shell.ok('get pod web -o jsonpath={.spec}');
      assert.equal(await shell.ok('apply -f -', web('busybox:2')), 'pod/web configured\n');
      const after = await shell.ok('get pod web -o jsonpath={.spec}');
      assert.deepEqual(JSON.parse(after), JSON.parse(before.replace('busybox:1', 'busybox:2')));
    });

    test('takes every kind', async () => {
      await using shell = await open();
      const [namespace, ...others] = await oneOfEachKind(shell);
      assert.ok(namespace);
      const all = [namespace, ...others];
      const outcomes = async (objects: typeof all) =>
        linesOf(await shell.ok('apply -f -', listOf(objects))).map((line) => line.split(' ').at(-1));
      assert.deepEqual(
        await outcomes(others),
        others.map(() => 'created'),
      );
      assert.deepEqual(
        await outcomes(others.filter(({ kind }) => kind !== 'Secret')), // stringData reads as data
        others.slice(1).map(() => 'unchanged'),
      );
      // the namespace was made without apply
      assert.deepEqual(
        await outcomes(all.map((each) => labelled(each, { seen: 'yes' }))),
        all.map(() => 'configured'),
      );
      const kinds = `ns,${clusterKinds},cm,secret,sa,svc,pvc,po,lease,role,rolebinding,ev`;
      assert.equal(linesOf(await shell.ok(`get ${kinds} -l seen=yes -o name`)).length >= all.length, true);
      await shell.ok(`delete ${clusterKinds} ${shell.namespace}`);
    });

    test('takes several documents, from standard input and from files', async () => {
      await using shell = await open();
      const [one, two] = [
        'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {a: "1"}\n',
        'apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: two}\n',
      ];
      const said = 'configmap/one created\nserviceaccount/two created\n';
      assert.equal(await shell.ok('apply -f -', `${one}---\n${two}`), said);
      const [first, second] = [
        await shell.file('one.yaml', one),
        await shell.file('three.json', configMap('three')),
      ];
      const again = 'configmap/one unchanged\nconfigmap/three created\n';
      assert.equal(await shell.ok(`apply -f ${first} -f ${second}`), again);
    });

    test('takes over what was made without it, and says so', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1', b: '2' }));
      const { code, stdout, stderr } = await shell.run('apply -f -', configMap('one', { a: '5' }));
      assert.deepEqual({ code, stdout }, { code: 0, stdout: 'configmap/one configured\n' });
      assert.match(stderr, /^Warning: resource configmaps\/one is missing the .*last-applied-configuration/);
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '5', b: '2' });
    });

    test('refuses what cannot be changed; --force makes the object anew', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', listOf([role('reader', 'get'), role('writer', 'update')]));
      await shell.ok('apply -f -', roleBinding('crew', 'reader'));
      const identity = 'get rolebinding crew -o jsonpath={.metadata.uid}/{.roleRef.name}';
      const before = await shell.ok(identity);
      const refused = await shell.fails('apply -f -', roleBinding('crew', 'writer'));
      assert.match(
        refused,
        /The RoleBinding "crew" is invalid: roleRef: Invalid value: .*cannot change roleRef/,
      );
      assert.equal(await shell.ok(identity), before);
      await shell.ok('apply --force -f -', roleBinding('crew', 'writer'));
      const [uid, name] = (await shell.ok(identity)).split('/');
      assert.ok(uid !== before.split('/')[0] && name === 'writer');
    });

    test('validates the whole object, also when it only changes', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', configMap('one'));
      for (const name of ['one', 'new']) {
        const misspelt = { ...configMap(name, { a: '1' }), dataa: { a: '1' } };
        assert.match(await shell.fails('apply -f -', misspelt), /unknown field "dataa"/);
        if (minor < 25) continue;
        const warned = await shell.run('apply --validate=warn -f -', misspelt);
        assert.equal(warned.code, 0, warned.stderr);
        assert.match(warned.stderr, /^Warning: unknown field "dataa"$/m);
      }
    });
  });

  describe('apply --dry-run', () => {
    for (const [how, told] of [
      ['client', 'dry run'],
      ['server', 'server dry run'],
    ]) {
      test(`=${how} tells what it would do, and does nothing`, async () => {
        await using shell = await open();
        const line = `apply --dry-run=${how} -f -`;
        assert.equal(await shell.ok(line, configMap('one')), `configmap/one created (${told})\n`);
        await shell.ok('apply -f -', configMap('one', { a: '1' }));
        const before = await shell.ok('get configmap one -o json');
        const changed = configMap('one', { a: '2' });
        assert.equal(await shell.ok(line, changed), `configmap/one configured (${told})\n`);
        if (how === 'server') assert.match(await shell.ok(`${line} -o yaml`, changed), /^ {2}a: "2"$/m);
        assert.equal(await shell.ok('get configmap one -o json'), before);
      });
    }
  });
}
