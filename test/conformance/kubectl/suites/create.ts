import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { configMap, csiNode, lease, pod } from '../manifests.ts';
import type { OpenShell } from '../shell.ts';
import { linesOf } from '../tables.ts';

const yaml = `# two of them
apiVersion: v1
kind: ConfigMap
metadata:
  name: one
data:
  answer: "on"
  text: |
    two
    lines
---
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: two}
spec: {holderIdentity: ann, leaseDurationSeconds: 0x10}
`;

export function createSuite(open: OpenShell): void {
  describe('create -f', () => {
    test('takes YAML with several documents, from a file and from standard input', async () => {
      await using shell = await open();
      const path = await shell.file('objects.yaml', yaml);
      const said = 'configmap/one created\nlease.coordination.k8s.io/two created\n';
      assert.equal(await shell.ok(`create -f ${path}`), said);
      assert.partialDeepStrictEqual(await shell.get('configmap one'), {
        data: { answer: 'on', text: 'two\nlines\n' },
      });
      assert.partialDeepStrictEqual(await shell.get('lease two'), { spec: { leaseDurationSeconds: 16 } });
      await shell.ok(`delete -f ${path}`);
      assert.equal(await shell.ok('create -f -', yaml), said);
    });

    test('takes JSON, a list of objects and a folder of files', async () => {
      await using shell = await open();
      const list = { apiVersion: 'v1', kind: 'List', items: [configMap('one'), lease('two')] };
      const path = await shell.file('list.json', list);
      assert.deepEqual(linesOf(await shell.ok(`create -f ${path} -o name`)), [
        'configmap/one',
        'lease.coordination.k8s.io/two',
      ]);
      await shell.ok(`delete -f ${path}`);
      await shell.file('pod.yaml', pod('three'));
      assert.deepEqual(linesOf(await shell.ok(`create -f ${dirname(path)}`)), [
        'configmap/one created',
        'lease.coordination.k8s.io/two created',
        'pod/three created',
      ]);
    });

    test('asks a review, whoever asks', async () => {
      await using shell = await open();
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
      };
      assert.match(await shell.ok('create -f - -o yaml', review), /^ {2}allowed: true$/m);
      assert.match(await shell.ok('create -f - -o yaml --as=ann', review), /^ {2}allowed: false$/m);
    });

    test('makes a name where only its beginning is given', async () => {
      await using shell = await open();
      const said = await shell.ok('create -f -', configMap({ generateName: 'made-' }));
      assert.match(said, /^configmap\/made-[a-z0-9]{5} created\n$/);
    });

    test('does not mind a namespace in an object that belongs to none', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok('create -f -', csiNode({ name, namespace: 'default' }));
      assert.equal(await shell.ok(`get csinode ${name} -o jsonpath={.metadata.namespace}`), '');
    });

    test('says why an object is refused', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one'));
      assert.equal(
        await shell.fails('create -f -', configMap('one')),
        'Error from server (AlreadyExists): error when creating "STDIN": configmaps "one" already exists\n',
      );
      assert.match(
        await shell.fails('create -f -', configMap('Not_A_Name')),
        /^The ConfigMap "Not_A_Name" is invalid: metadata\.name: Invalid value: "Not_A_Name": /,
      );
      const elsewhere = configMap({ name: 'x', namespace: 'elsewhere' });
      const mismatch = await shell.fails(`create -n ${shell.namespace} -f -`, elsewhere);
      assert.match(mismatch, /the namespace from the provided object .* does not match the namespace/);
      assert.match(
        await shell.fails(`create -n ${shell.namespace}-none -f -`, configMap('x')),
        /^Error from server \(NotFound\): .*namespaces "shell-\w+-none" not found\n$/,
      );
    });
  });
}
