import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { pod, secret } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';

function claimsOf(token: string): Record<string, unknown> & { exp: number; iat: number } {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

export function tokenSuite(open: OpenShell, { minor }: Release): void {
  if (minor < 24) return;
  describe('create token', () => {
    test('lets its bearer in as the account, who may do nothing else', async () => {
      await using shell = await open();
      await shell.ok('create serviceaccount robot');
      const token = (await shell.ok('create token robot')).trim();
      await shell.ok(`config set-credentials robot --token=${token}`);
      const name = `system:serviceaccount:${shell.namespace}:robot`;
      const refused = await shell.fails('--user=robot get secrets');
      assert.match(refused, new RegExp(`\\(Forbidden\\): .*User "${name}" cannot list resource "secrets"`));
      const { code, stdout } = await shell.run('--user=robot auth can-i list secrets');
      assert.deepEqual({ code, stdout }, { code: 1, stdout: 'no\n' });
      await shell.ok(`create rolebinding robot --clusterrole=view --serviceaccount=${shell.namespace}:robot`);
      await shell.ok('--user=robot get configmaps');
      await shell.ok('delete serviceaccount robot');
      assert.match(await shell.fails('--user=robot get configmaps'), /Unauthorized|must be logged in/);
    });

    test('that is kept in a Secret lets its bearer in until the Secret goes', async () => {
      await using shell = await open();
      await shell.ok('create serviceaccount robot');
      const annotations = { 'kubernetes.io/service-account.name': 'robot' };
      const metadata = { name: 'kept', annotations };
      const kept = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata,
        type: 'kubernetes.io/service-account-token',
      };
      await shell.ok('apply -f -', kept);
      const read = '{.data.token}';
      const encoded = await waitFor('the token', () => shell.ok(`get secret kept -o jsonpath=${read}`));
      await shell.ok(
        `config set-credentials kept --token=${Buffer.from(encoded, 'base64').toString('utf8')}`,
      );
      assert.match(await shell.fails('--user=kept get pods'), /Forbidden/);
      await shell.ok('apply -f -', kept); // its token stays
      assert.equal(await shell.ok(`get secret kept -o jsonpath=${read}`), encoded);
      await shell.ok('delete secret kept');
      assert.match(await shell.fails('--user=kept get pods'), /Unauthorized|must be logged in/);
    });

    test('for how long and for whom is as it is told', async () => {
      await using shell = await open();
      await shell.ok('create serviceaccount robot');
      const { exp, iat, aud } = claimsOf(await shell.ok('create token robot --duration=20m'));
      assert.equal(exp - iat, 1200);
      assert.deepEqual(aud, ['https://kubernetes.default.svc.cluster.local']);
      const others = await shell.ok('create token robot --audience=a.example --audience=b.example');
      assert.deepEqual(claimsOf(others)['aud'], ['a.example', 'b.example']);
      await shell.ok(`config set-credentials other --token=${others.trim()}`);
      assert.match(await shell.fails('--user=other get pods'), /Unauthorized|must be logged in/);
      const short = await shell.fails('create token robot --duration=1s');
      assert.match(short, /may not specify a duration less than 10 minutes/);
    });

    test('bound to an object ends with it', async () => {
      await using shell = await open();
      await shell.ok('create serviceaccount robot');
      await shell.ok('create -f -', secret('key'));
      await shell.ok('create -f -', pod('web', { serviceAccountName: 'robot' }));
      const view = `create rolebinding robot --clusterrole=view --serviceaccount=${shell.namespace}:robot`;
      await shell.ok(view);
      for (const [kind, name] of [
        ['Secret', 'key'],
        ['Pod', 'web'],
      ] as const) {
        const bound = `--bound-object-kind=${kind} --bound-object-name=${name}`;
        const token = (await shell.ok(`create token robot ${bound}`)).trim();
        assert.partialDeepStrictEqual(claimsOf(token)['kubernetes.io'], { [kind.toLowerCase()]: { name } });
        await shell.ok(`config set-credentials bound --token=${token}`);
        await shell.ok('--user=bound get configmaps');
        await shell.ok(`delete ${kind} ${name} --now`);
        assert.match(await shell.fails('--user=bound get configmaps'), /Unauthorized|must be logged in/);
      }
      const missing = await shell.fails(
        'create token robot --bound-object-kind=Secret --bound-object-name=none',
      );
      assert.match(missing, /secrets "none" not found/);
      const uid = '--bound-object-kind=Secret --bound-object-name=key --bound-object-uid=other';
      await shell.ok('create -f -', secret('key'));
      assert.match(await shell.fails(`create token robot ${uid}`), /does not match the UID in record/);
    });
  });
}
