import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterRole, clusterRoleBinding, pod, role, roleBinding } from '../manifests.ts';
import type { OpenShell } from '../shell.ts';

const immutable = /spec: Forbidden: pod updates may not change fields other than/;

export function setSuite(open: OpenShell): void {
  describe('set', () => {
    test('image changes a pod’s', async () => {
      await using shell = await open();
      const containers = ['main', 'side'].map((name) => ({ name, image: 'busybox:1' }));
      await shell.ok('create -f -', pod('web', { containers }));
      assert.equal(await shell.ok('set image pod/web main=busybox:2'), 'pod/web image updated\n');
      const images = 'get pod web -o jsonpath={.spec.containers[*].image}';
      assert.equal(await shell.ok(images), 'busybox:2 busybox:1');
      const dry = await shell.ok('set image pod/web *=busybox:3 --dry-run=server');
      assert.equal(dry, 'pod/web image updated (server dry run)\n');
      await shell.ok('set image pods --all *=busybox:3');
      assert.equal(await shell.ok(images), 'busybox:3 busybox:3');
    });

    test('env, resources and serviceaccount change a file, and are refused for a pod that is there', async () => {
      await using shell = await open();
      const containers = [{ name: 'main', image: 'busybox', env: [{ name: 'A', value: '1' }] }];
      const web = pod('web', { containers });
      await shell.ok('create -f -', web);
      assert.match(await shell.ok('set env pod/web --list'), /^A=1$/m);
      for (const [words, shown] of [
        ['env B=2', /name: B\n +value: "2"/],
        ['resources --limits=cpu=100m', /limits:\n +cpu: 100m/],
        ['serviceaccount robot', /serviceAccountName: robot/],
      ] as const) {
        const [what, ...more] = words.split(' ');
        const local = ['set', `${what}`, '--local', '-f', '-', ...more, '-o', 'yaml'];
        assert.match(await shell.ok(local, web), shown);
        assert.match(await shell.fails(['set', `${what}`, 'pod/web', ...more]), immutable);
      }
    });

    test('subject adds to bindings', async () => {
      await using shell = await open();
      const name = shell.namespace;
      for (const object of [role('reader', 'get'), roleBinding('crew', 'reader')]) {
        await shell.ok('create -f -', object);
      }
      assert.equal(
        await shell.ok(`set subject rolebinding crew --user=bob --serviceaccount=${name}:robot`),
        'rolebinding.rbac.authorization.k8s.io/crew subjects updated\n',
      );
      const subjects = 'jsonpath={.subjects[*].name}';
      assert.equal(await shell.ok(`get rolebinding crew -o ${subjects}`), 'ann bob robot');
      for (const object of [clusterRole(name), clusterRoleBinding(name, name)]) {
        await shell.ok('create -f -', object);
      }
      await shell.ok(`set subject clusterrolebinding ${name} --group=crew`);
      assert.equal(await shell.ok(`get clusterrolebinding ${name} -o ${subjects}`), 'ann crew');
      await shell.ok(`delete clusterrole,clusterrolebinding ${name}`);
    });
  });

  describe('scale', () => {
    test('says that a pod cannot be scaled', async () => {
      await using shell = await open();
      await shell.ok('create -f -', pod('web'));
      const refused = await shell.fails('scale pod/web --replicas=2');
      assert.match(refused, /could not find the requested resource/);
    });
  });
}
