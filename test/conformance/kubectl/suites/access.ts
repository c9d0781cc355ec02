import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { certificateRequest } from '../certificates.ts';
import { signingRequest } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';

async function createRequest(shell: Shell): Promise<string> {
  const name = shell.namespace;
  await shell.ok('create -f -', signingRequest(name, await certificateRequest(shell, '/CN=ann')));
  return name;
}

export function accessSuite(open: OpenShell, { minor }: Release): void {
  describe('auth', () => {
    test('can-i answers for an administrator', async () => {
      await using shell = await open();
      assert.equal(await shell.ok('auth can-i delete nodes'), 'yes\n');
      assert.equal(await shell.ok('auth can-i get pods --subresource=log -n default'), 'yes\n');
      assert.equal(await shell.ok('auth can-i get /logs/'), 'yes\n');
      assert.match(await shell.ok('auth can-i --list'), /^\*\.\* +\[\] +\[\] +\[\*\]$/m);
    });

    if (minor >= 28) {
      test('whoami names the administrator', async () => {
        await using shell = await open();
        const answer: unknown = JSON.parse(await shell.ok('auth whoami -o json'));
        assert.partialDeepStrictEqual(answer, {
          kind: 'SelfSubjectReview',
          status: { userInfo: { username: 'kubernetes-admin', groups: ['system:masters'] } },
        });
      });
    }

    if (minor >= 28) {
      test('a service account is known by its token, and may do nothing else', async () => {
        await using shell = await open();
        await shell.ok('create serviceaccount robot');
        const token = (await shell.ok('create token robot')).trim();
        await shell.ok(`config set-credentials robot --token=${token}`);
        const name = `system:serviceaccount:${shell.namespace}:robot`;
        assert.match(await shell.ok('--user=robot auth whoami'), new RegExp(`^Username +${name}$`, 'm'));
        const refused = await shell.fails('--user=robot get secrets');
        assert.match(refused, new RegExp(`\\(Forbidden\\): .*User "${name}" cannot list resource "secrets"`));
        const { code, stdout } = await shell.run('--user=robot auth can-i list secrets');
        assert.deepEqual({ code, stdout }, { code: 1, stdout: 'no\n' });
      });
    }

    test('reconcile makes roles what a file says', async () => {
      await using shell = await open();
      const role = (...verbs: string[]) => ({
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'Role',
        metadata: { name: 'reader', namespace: shell.namespace },
        rules: [{ apiGroups: [''], resources: ['pods'], verbs }],
      });
      const said = 'role.rbac.authorization.k8s.io/reader reconciled\n';
      assert.ok((await shell.ok('auth reconcile -f -', role('get'))).startsWith(said));
      assert.ok((await shell.ok('auth reconcile -f -', role('get', 'list'))).startsWith(said));
      assert.match(await shell.ok('get role reader -o jsonpath={.rules}'), /"list"/);
    });
  });

  describe('certificate', () => {
    const conditions = (name: string): string => `get csr ${name} -o jsonpath={.status.conditions[*].type}`;

    test('approve and deny tell the server', async () => {
      await using one = await open();
      await using two = await open();
      const [approved, denied] = [await createRequest(one), await createRequest(two)];
      assert.match(
        await one.ok(`get csr ${approved}`),
        new RegExp(`^${approved} .*kubernetes-admin .*Pending$`, 'm'),
      );
      const group = 'certificatesigningrequest.certificates.k8s.io';
      assert.equal(await one.ok(`certificate approve ${approved}`), `${group}/${approved} approved\n`);
      assert.equal(await one.ok(conditions(approved)), 'Approved');
      assert.equal(await two.ok(`certificate deny ${denied}`), `${group}/${denied} denied\n`);
      assert.equal(await two.ok(conditions(denied)), 'Denied');
      assert.match(await two.ok(`get csr ${denied}`), /Denied$/m);
    });
  });
}
