import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { certificateRequest } from '../certificates.ts';
import { signingRequest } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';
import { columnsOf, linesOf } from '../tables.ts';

const group = 'certificatesigningrequest.certificates.k8s.io';
const kubelet = 'kubernetes.io/kube-apiserver-client-kubelet';

async function createRequest(shell: Shell): Promise<string> {
  const name = shell.namespace;
  await shell.ok('create -f -', signingRequest(name, await certificateRequest(shell, '/CN=ann')));
  return name;
}

/** Its cells in `get csr`, by their headings. */
async function shown(shell: Shell, name: string): Promise<Record<string, string>> {
  const [heading, row] = linesOf(await shell.ok(`get csr ${name}`)).map(columnsOf);
  return Object.fromEntries((heading ?? []).map((title, at) => [title, row?.[at] ?? '']));
}

export function certificatesSuite(open: OpenShell, { minor }: Release): void {
  describe('certificate', () => {
    const conditions = (name: string): string => `get csr ${name} -o jsonpath={.status.conditions[*].type}`;

    test('approve and deny tell the server', async () => {
      await using one = await open();
      await using two = await open();
      const [approved, denied] = [await createRequest(one), await createRequest(two)];
      const { AGE, ...cells } = await shown(one, approved);
      assert.match(AGE ?? '', /^\d+s$/);
      assert.deepEqual(cells, {
        NAME: approved,
        SIGNERNAME: 'example.com/anything',
        REQUESTOR: 'kubernetes-admin',
        REQUESTEDDURATION: '<none>',
        CONDITION: 'Pending',
      });
      assert.equal(await one.ok(`certificate approve ${approved}`), `${group}/${approved} approved\n`);
      assert.equal(await one.ok(conditions(approved)), 'Approved');
      assert.equal(
        (await shown(one, approved))['CONDITION'],
        'Approved',
        'nobody here signs for that signer',
      );
      assert.equal(await two.ok(`certificate deny ${denied}`), `${group}/${denied} denied\n`);
      assert.equal(await two.ok(conditions(denied)), 'Denied');
      assert.equal((await shown(two, denied))['CONDITION'], 'Denied');
      assert.match(await two.fails(`certificate approve ${denied}`), /Denied|both|cannot/i);
      await one.ok(`delete csr ${approved} ${denied}`);
    });

    test('approve makes a node’s certificate be issued, with which it is that node', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok(`create clusterrole ${name} --verb=create,get --resource=certificatesigningrequests`);
      await shell.ok(`create clusterrolebinding ${name} --clusterrole=${name} --user=${name}`);
      const request = await certificateRequest(shell, `/O=system:nodes/CN=system:node:${name}`);
      const object = signingRequest(name, request);
      const usages = ['digital signature', 'client auth'];
      const spec = { ...Object(object['spec']), signerName: kubelet, usages, expirationSeconds: 3600 };
      await shell.ok(`create -f - --as=${name}`, { ...object, spec });
      const waiting = await shown(shell, name);
      assert.deepEqual([waiting['REQUESTOR'], waiting['CONDITION']], [name, 'Pending']);
      assert.equal(waiting['REQUESTEDDURATION'], '60m');
      assert.match(
        await shell.fails(`certificate approve ${name} --as=${name}`),
        /cannot (update|patch|approve)/,
      );
      await shell.ok(`certificate approve ${name}`);
      const issued = await waitFor('the certificate', async () => {
        const text = await shell.ok(`get csr ${name} -o jsonpath={.status.certificate}`);
        return text === '' ? undefined : text;
      });
      assert.equal((await shown(shell, name))['CONDITION'], 'Approved,Issued');
      await shell.ok(`delete csr/${name} clusterrole/${name} clusterrolebinding/${name}`);
      if (minor < 28) return; // it cannot write its own kubeconfig where it is built with a newer Go
      const cert = await shell.file('node.crt', Buffer.from(issued, 'base64').toString());
      const key = cert.replace('node.crt', 'request.key');
      await shell.ok(`config set-credentials node --client-certificate=${cert} --client-key=${key}`);
      const refused = await shell.fails('--user=node get nodes');
      assert.match(refused, new RegExp(`User "system:node:${name}" cannot list resource "nodes"`));
      await shell.ok('--user=node create -f -', { apiVersion: 'v1', kind: 'Node', metadata: { name } });
      assert.match(await shell.ok(`--user=node get node ${name}`), new RegExp(`^${name} `, 'm'));
      const who = await shell.ok('--user=node auth whoami');
      assert.match(who, /^Groups +\[system:nodes system:authenticated\]$/m);
      await shell.ok(`delete node/${name}`);
    });
  });
}
