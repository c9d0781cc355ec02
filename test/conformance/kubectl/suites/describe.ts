import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { certificateRequest } from '../certificates.ts';
import {
  configMap,
  csiNode,
  event,
  lease,
  node,
  pod,
  role,
  roleBinding,
  secret,
  serviceAccount,
  signingRequest,
} from '../manifests.ts';
import type { OpenShell } from '../shell.ts';

export function describeSuite(open: OpenShell): void {
  describe('describe', () => {
    test('configmaps with what happened to them, secrets, leases and events', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { colour: 'blue' }));
      const uid = await shell.ok('get configmap one -o jsonpath={.metadata.uid}');
      await shell.ok('create -f -', event('one.seen', shell.namespace, 'one', uid));
      const text = await shell.ok('describe configmap one');
      assert.match(text, /^colour:\n----\nblue$/m);
      assert.match(
        text,
        /^Events:\n +Type +Reason +Age +From +Message\n.*\n +Normal +Seen +.* one was looked at$/m,
      );
      assert.match(await shell.ok('describe events one.seen'), /^Message: +one was looked at$/m);
      assert.match(
        await shell.ok('describe events.v1.events.k8s.io one.seen'),
        /^Note: +one was looked at$/m,
      );
      await shell.ok('create -f -', secret('key', { password: 'hidden' }));
      assert.match(
        await shell.ok('describe secret key'),
        /^Type: +Opaque\n\nData\n====\npassword: +6 bytes$/m,
      );
      await shell.ok('create -f -', lease('two', 'ann'));
      assert.match(await shell.ok('describe lease two'), /^ +Holder Identity: +ann$/m);
    });

    test('service accounts, roles and bindings, in a namespace and for the cluster', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok('create -f -', serviceAccount('robot'));
      assert.match(await shell.ok('describe sa robot'), /^Image pull secrets: +<none>$/m);
      await shell.ok('create -f -', role('reader', 'get', 'list'));
      assert.match(await shell.ok('describe role reader'), /^ +configmaps +\[\] +\[\] +\[get list\]$/m);
      await shell.ok('create -f -', roleBinding('readers', 'reader'));
      assert.match(await shell.ok('describe rolebinding readers'), /^ +Kind: +Role\n +Name: +reader$/m);
      await shell.ok(`create clusterrole ${name} --verb=get --non-resource-url=/logs`);
      assert.match(await shell.ok(`describe clusterrole ${name}`), /^ +\[\/logs\] +\[\] +\[get\]$/m);
      await shell.ok(`create clusterrolebinding ${name} --clusterrole=${name} --user=ann`);
      assert.match(await shell.ok(`describe clusterrolebinding ${name}`), /^ +User +ann *$/m);
    });

    test('pods, and the node that they are on', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok(
        'create -f -',
        node({ name, labels: { zone: 'a' } }, { status: { capacity: { cpu: '4' } } }),
      );
      await shell.ok('create -f -', lease({ name, namespace: 'kube-node-lease' }, name));
      await shell.ok('create -f -', pod('web', { nodeName: name }));
      const described = await shell.ok('describe pod web');
      assert.match(described, new RegExp(`^Node: +${name}/?$`, 'm'));
      assert.match(described, /^ {2}main:\n(.*\n)*? +Image: +busybox$/m);
      const text = await shell.ok(`describe node ${name}`);
      assert.match(text, new RegExp(`^ +HolderIdentity: +${name}$`, 'm'));
      assert.match(text, /^Non-terminated Pods: +\(1 in total\)$/m);
      assert.match(text, new RegExp(`^ +${name} +web `, 'm'));
    });

    test('namespaces, signing requests and the storage drivers of a node', async () => {
      await using shell = await open();
      const name = shell.namespace;
      assert.match(await shell.ok(`describe namespace ${name}`), /^Status: +Active$/m);
      await shell.ok('create -f -', signingRequest(name, await certificateRequest(shell, '/CN=ann/O=crew')));
      const request = await shell.ok(`describe csr ${name}`);
      assert.match(request, /^Requesting User: +kubernetes-admin$/m);
      assert.match(request, /^Status: +Pending$/m);
      assert.match(request, /^ +Common Name: +ann$/m);
      await shell.ok('create -f -', csiNode(name));
      assert.match(await shell.ok(`describe csinode ${name}`), /^ +disk\.example\.com:\n +Node ID: +one$/m);
    });

    test('everything with a label, and says what is not there', async () => {
      await using shell = await open();
      for (const name of ['one', 'two']) {
        await shell.ok('create -f -', configMap({ name, labels: { app: 'web' } }));
      }
      const text = await shell.ok('describe configmaps -l app=web');
      assert.match(text, /^Name: +one\n(.*\n)*Name: +two$/m);
      assert.match(await shell.fails('describe configmap none'), /\(NotFound\): configmaps "none" not found/);
    });
  });
}
