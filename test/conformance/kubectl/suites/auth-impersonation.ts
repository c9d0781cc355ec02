import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';

const group = 'rbac.authorization.k8s.io';

export function impersonationSuite(open: OpenShell, { minor }: Release): void {
  describe('--as', () => {
    test('gives ordinary commands the rights of somebody else, and no others', async () => {
      await using shell = await open();
      await shell.ok('create rolebinding crew --clusterrole=edit --group=crew');
      const as = '--as=ann --as-group=crew';
      await shell.ok(`create -f - ${as}`, configMap('one'));
      await shell.ok(`label configmap one ${as} a=b`);
      assert.equal(await shell.ok(`get configmap one ${as} -o jsonpath={.metadata.labels.a}`), 'b');
      assert.match(await shell.ok(`delete configmap one ${as}`), /deleted/);
      const refused = `User "ann" cannot`;
      assert.match(
        await shell.fails('get configmaps --as=ann'),
        new RegExp(`\\(Forbidden\\).*${refused} list`),
      );
      assert.match(await shell.fails(`get nodes ${as}`), new RegExp(`${refused} list resource "nodes"`));
      assert.match(await shell.fails(`get configmaps -n default ${as}`), /in the namespace "default"/);
      assert.match(await shell.fails(`get --raw /metrics ${as}`), /Forbidden|forbidden/);
    });

    test('of a service account brings its groups', async () => {
      await using shell = await open();
      const { namespace } = shell;
      await shell.ok(`create rolebinding all --clusterrole=view --group=system:serviceaccounts:${namespace}`);
      await shell.ok(`get configmaps --as=system:serviceaccount:${namespace}:robot`);
      await shell.fails('get configmaps --as=system:serviceaccount:default:robot');
    });

    test('needs the right to it', async () => {
      await using shell = await open();
      const role = `${shell.namespace}-deputy`;
      await shell.ok(`create clusterrole ${role} --verb=impersonate --resource=users --resource-name=ann`);
      await shell.ok(`create clusterrolebinding ${role} --clusterrole=${role} --user=deputy`);
      if (minor >= 24) {
        await shell.ok('create serviceaccount robot');
        const token = (await shell.ok('create token robot')).trim();
        await shell.ok(`config set-credentials robot --token=${token}`);
        const robot = `--serviceaccount=${shell.namespace}:robot`;
        await shell.ok(`create clusterrolebinding ${role}-robot --clusterrole=${role} ${robot}`);
        assert.match(await shell.fails('--user=robot get pods --as=ann'), /User "ann" cannot list/);
        const other = await shell.fails('--user=robot get pods --as=bob');
        assert.match(other, /users "bob" is forbidden: .* cannot impersonate resource "users"/);
        const masters = await shell.fails('--user=robot get pods --as=ann --as-group=system:masters');
        assert.match(
          masters,
          /groups "system:masters" is forbidden: .* cannot impersonate resource "groups"/,
        );
        await shell.ok(`delete clusterrolebinding ${role}-robot`);
      }
      await shell.ok(`delete clusterrole,clusterrolebinding ${role}`);
    });
  });

  describe('create with --dry-run=server', () => {
    test('of roles, bindings and accounts makes nothing', async () => {
      await using shell = await open();
      const name = shell.namespace;
      for (const [what, created] of [
        [`role ${name} --verb=get --resource=pods`, `role.${group}`],
        [`clusterrole ${name} --verb=get --resource=pods`, `clusterrole.${group}`],
        [`rolebinding ${name} --clusterrole=view --user=ann`, `rolebinding.${group}`],
        [`clusterrolebinding ${name} --clusterrole=view --user=ann`, `clusterrolebinding.${group}`],
        [`serviceaccount ${name}`, 'serviceaccount'],
      ] as const) {
        const said = await shell.ok(`create ${what} --dry-run=server`);
        assert.equal(said, `${created}/${name} created (server dry run)\n`);
        const [kind] = what.split(' ');
        assert.match(await shell.fails(`get ${kind} ${name}`), /NotFound/);
      }
    });

    test('is refused where the real one would be', async () => {
      await using shell = await open();
      const ask = 'create role reader --verb=get --resource=pods --dry-run=server';
      assert.match(await shell.fails(`${ask} --as=ann`), /User "ann" cannot create resource "roles"/);
      await shell.ok('create rolebinding admins --clusterrole=admin --user=ann');
      await shell.ok(`${ask} --as=ann`);
      const more = 'create role nodes --verb=get --resource=nodes --dry-run=server --as=ann';
      assert.match(await shell.fails(more), /attempting to grant RBAC permissions not currently held/);
    });

    test('of a binding warns that its role is missing', async () => {
      await using shell = await open();
      const { code, stderr } = await shell.run(
        'create rolebinding x --role=none --user=ann --dry-run=server',
      );
      assert.equal(code, 0);
      assert.match(stderr, /^Warning: roleRef: role\.rbac\.authorization\.k8s\.io "none" not found/);
    });
  });

  describe('set subject', () => {
    test('counts at once, and its dry run does not', async () => {
      await using shell = await open();
      await shell.ok('create rolebinding readers --clusterrole=view --user=ann');
      const asBob = 'auth can-i list configmaps --as=bob';
      const said = await shell.ok('set subject rolebinding readers --user=bob --dry-run=server');
      assert.equal(said, `rolebinding.${group}/readers subjects updated (server dry run)\n`);
      assert.equal((await shell.run(asBob)).stdout, 'no\n');
      await shell.ok('set subject rolebinding readers --user=bob');
      assert.equal((await shell.run(asBob)).stdout, 'yes\n');
    });
  });
}
