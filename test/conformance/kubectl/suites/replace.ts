import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { certificateRequest } from '../certificates.ts';
import {
  clusterStorage,
  configMap,
  csiNode,
  event,
  lease,
  node,
  persistentVolumeClaim,
  pod,
  role,
  roleBinding,
  runtimeClass,
  secret,
  service,
  serviceAccount,
  signingRequest,
} from '../manifests.ts';
import type { Release } from '../release.ts';
import { stored } from '../served.ts';
import type { OpenShell } from '../shell.ts';

export function replaceSuite(open: OpenShell, { minor }: Release): void {
  describe('replace', () => {
    test('writes the whole object, which stays the same one', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1', b: '2' }));
      const identity = 'get configmap one -o jsonpath={.metadata.uid}';
      const uid = await shell.ok(identity);
      assert.equal(await shell.ok('replace -f -', configMap('one', { b: '3' })), 'configmap/one replaced\n');
      assert.deepEqual(JSON.parse(await shell.ok('get configmap one -o jsonpath={.data}')), { b: '3' });
      assert.equal(await shell.ok(identity), uid);
    });

    test('refuses a version that is no longer the stored one', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one'));
      const stale = await shell.ok('get configmap one -o json');
      await shell.ok('replace -f -', configMap('one', { a: '1' }));
      assert.match(
        await shell.fails('replace -f -', stale),
        /^Error from server \(Conflict\): .*the object has been modified; please apply your changes/,
      );
    });

    test('refuses to change what is immutable, and names the field', async () => {
      await using shell = await open();
      await shell.ok('create -f -', role('reader', 'get'));
      await shell.ok('create -f -', role('writer', 'update'));
      await shell.ok('create -f -', roleBinding('crew', 'reader'));
      assert.match(
        await shell.fails('replace -f -', roleBinding('crew', 'writer')),
        /^The RoleBinding "crew" is invalid: roleRef: Invalid value: .*cannot change roleRef/,
      );
      await shell.ok('create -f -', { ...configMap('fixed', { a: '1' }), immutable: true });
      const changed = { ...configMap('fixed', { a: '2' }), immutable: true };
      assert.match(await shell.fails('replace -f -', changed), /data: Forbidden: .* when `immutable` is set/);
    });

    test('of something that is not there fails', async () => {
      await using shell = await open();
      assert.match(await shell.fails('replace -f -', configMap('none')), /\(NotFound\): .*"none" not found/);
    });

    test('takes what get shows of any kind, and changes nothing', async () => {
      await using shell = await open();
      const name = shell.namespace;
      const request = signingRequest(name, await certificateRequest(shell, '/CN=ann'));
      for (const object of [node(name), csiNode(name), runtimeClass(name), ...clusterStorage(name), request])
        await shell.ok('create -f -', object);
      const inside = [
        configMap(name, { text: 'two\nlines\n' }),
        secret(name, { key: 'hidden' }),
        serviceAccount(name),
        service(name),
        persistentVolumeClaim(name),
        pod(name),
        lease(name),
        role(name, 'get'),
        roleBinding(name, name),
        event(name, name, 'something'),
      ];
      for (const object of inside) await shell.ok('create -f -', object);
      await shell.ok(`create clusterrole ${name} --verb=get --non-resource-url=/logs`);
      await shell.ok(`create clusterrolebinding ${name} --clusterrole=${name} --user=ann`);
      const [trustBundle = ''] = (
        await shell.ok('get clustertrustbundles -o jsonpath={.items[*].spec.trustBundle}')
      ).split('\n\n');
      const bundle = {
        apiVersion: 'certificates.k8s.io/v1beta1',
        kind: 'ClusterTrustBundle',
        metadata: { name },
      };
      await shell.ok('create -f -', JSON.stringify({ ...bundle, spec: { trustBundle } }));
      for (const [resource, groupVersion] of stored) {
        const [group = '', version = ''] = groupVersion.includes('/') ? groupVersion.split('/') : [];
        const what = `${resource}${group === '' ? '' : `.${version}.${group}`} ${name}`;
        const yaml = await shell.ok(`get ${what} -o yaml`);
        await shell.ok('replace -f -', yaml);
        assert.equal(await shell.ok(`get ${what} -o yaml`), yaml);
      }
    });

    test('--force deletes and makes anew', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one'));
      const identity = 'get configmap one -o jsonpath={.metadata.uid}';
      const uid = await shell.ok(identity);
      const said = await shell.ok('replace --force -f -', configMap('one', { a: '1' }));
      assert.match(said, /^configmap "one" deleted.*\nconfigmap\/one replaced\n$/);
      assert.notEqual(await shell.ok(identity), uid);
    });

    if (minor >= 24) {
      test('--subresource writes the status alone', async () => {
        await using shell = await open();
        const name = shell.namespace;
        await shell.ok('create -f -', node(name));
        const status = { capacity: { cpu: '4' } };
        const changed = node(name, { spec: { podCIDR: '10.0.0.0/24' }, status });
        await shell.ok('replace --subresource=status -f -', changed);
        const read = await shell.ok(`get node ${name} --subresource=status -o json`);
        assert.partialDeepStrictEqual(JSON.parse(read), { status });
        assert.doesNotMatch(read, /podCIDR/);
        await shell.ok(`delete node ${name}`);
      });
    }
  });
}
