import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { selfSigned } from '../certificates.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';

const rbac = 'rbac.authorization.k8s.io';

/** `create KIND NAME --…`: objects that kubectl makes up from its arguments. */
export function generatorsSuite(open: OpenShell, { minor }: Release): void {
  describe('create of a kind by its name', () => {
    test('namespace and serviceaccount', async () => {
      await using shell = await open();
      const name = `${shell.namespace}-more`;
      assert.equal(await shell.ok(`create namespace ${name}`), `namespace/${name} created\n`);
      assert.partialDeepStrictEqual(await shell.get(`namespace ${name}`), {
        metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
        spec: { finalizers: ['kubernetes'] },
        status: { phase: 'Active' },
      });
      assert.equal(await shell.ok('create sa robot'), 'serviceaccount/robot created\n');
      assert.partialDeepStrictEqual(await shell.get('serviceaccount robot'), { kind: 'ServiceAccount' });
    });

    test('configmap from literals, files and a file of variables', async () => {
      await using shell = await open();
      const file = await shell.file('note', 'a note\n');
      const binary = await shell.file('variables', 'A=1\n# nothing\nB=two words\n');
      await shell.ok(
        `create configmap one --from-literal=colour=blue --from-file=${file} --from-file=other=${file}`,
      );
      assert.partialDeepStrictEqual(await shell.get('configmap one'), {
        data: { colour: 'blue', note: 'a note\n', other: 'a note\n' },
      });
      await shell.ok(`create cm two --from-env-file=${binary}`);
      assert.partialDeepStrictEqual(await shell.get('configmap two'), { data: { A: '1', B: 'two words' } });
    });

    test('secret generic, tls and docker-registry', async () => {
      await using shell = await open();
      await shell.ok('create secret generic one --from-literal=password=hidden --type=example.com/own');
      assert.partialDeepStrictEqual(await shell.get('secret one'), {
        type: 'example.com/own',
        data: { password: Buffer.from('hidden').toString('base64') },
      });
      const { cert, key } = await selfSigned(shell);
      await shell.ok(`create secret tls two --cert=${cert} --key=${key}`);
      assert.match(await shell.ok('get secret two'), /^two +kubernetes\.io\/tls +2 /m);
      await shell.ok('create secret docker-registry three --docker-username=a --docker-password=b');
      assert.match(await shell.ok('get secret three'), /^three +kubernetes\.io\/dockerconfigjson +1 /m);
    });

    test('role and rolebinding', async () => {
      await using shell = await open();
      assert.equal(
        await shell.ok('create role reader --verb=get,list --resource=pods,pods/log --resource-name=web'),
        `role.${rbac}/reader created\n`,
      );
      assert.partialDeepStrictEqual(await shell.get('role reader'), {
        rules: [{ apiGroups: [''], resources: ['pods', 'pods/log'], resourceNames: ['web'] }],
      });
      const { namespace } = shell;
      await shell.ok(
        `create rolebinding readers --role=reader --user=ann --group=crew --serviceaccount=${namespace}:robot`,
      );
      assert.partialDeepStrictEqual(await shell.get('rolebinding readers'), {
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'reader' },
        subjects: [
          { apiGroup: rbac, kind: 'User', name: 'ann' },
          { apiGroup: rbac, kind: 'Group', name: 'crew' },
          { kind: 'ServiceAccount', name: 'robot', namespace },
        ],
      });
      const wide = await shell.ok('get rolebinding readers -o wide');
      assert.match(wide, new RegExp(`^readers +Role/reader +\\d+s +ann +crew +${namespace}/robot\\s*$`, 'm'));
    });

    test('clusterrole and clusterrolebinding', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok(`create clusterrole ${name} --verb=get --resource=leases.coordination.k8s.io`);
      await shell.ok(`create clusterrole ${name}-urls --verb=get --non-resource-url=/logs/*`);
      await shell.ok(`create clusterrole ${name}-sum --aggregation-rule=team=${name}`);
      assert.partialDeepStrictEqual(await shell.get(`clusterrole ${name} ${name}-urls ${name}-sum`), {
        items: [
          { rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get'] }] },
          { rules: [{ nonResourceURLs: ['/logs/*'], verbs: ['get'] }] },
          { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { team: name } }] } },
        ],
      });
      await shell.ok(`create clusterrolebinding ${name} --clusterrole=${name} --group=crew`);
      assert.partialDeepStrictEqual(await shell.get(`clusterrolebinding ${name}`), {
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: rbac, kind: 'Group', name: 'crew' }],
      });
    });

    if (minor >= 24) {
      test('token', async () => {
        await using shell = await open();
        const { namespace } = shell;
        await shell.ok('create serviceaccount robot');
        const token = await shell.ok('create token robot --audience=https://one.example --duration=20m');
        const [, claims = ''] = token.split('.');
        const told: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString());
        assert.partialDeepStrictEqual(told, {
          aud: ['https://one.example'],
          sub: `system:serviceaccount:${namespace}:robot`,
          'kubernetes.io': { namespace, serviceaccount: { name: 'robot' } },
        });
        assert.match(await shell.fails('create token nobody'), /serviceaccounts "nobody" not found/);
      });
    }
  });
}
