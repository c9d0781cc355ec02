import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';
import { columnsOf, linesOf } from '../tables.ts';

export function whoAmISuite(open: OpenShell, { minor }: Release): void {
  if (minor < 28) return;
  describe('auth whoami', () => {
    test('names the administrator', async () => {
      await using shell = await open();
      const answer: unknown = JSON.parse(await shell.ok('auth whoami -o json'));
      assert.partialDeepStrictEqual(answer, {
        kind: 'SelfSubjectReview',
        status: {
          userInfo: { username: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
        },
      });
      assert.deepEqual(linesOf(await shell.ok('auth whoami')).map(columnsOf), [
        ['ATTRIBUTE', 'VALUE'],
        ['Username', 'kubernetes-admin'],
        ['Groups', '[system:masters system:authenticated]'],
      ]);
    });

    test('names whom somebody is taken for', async () => {
      await using shell = await open();
      const more = minor >= 34 ? ' --as-uid=u1 --as-user-extra=team=a' : ' --as-uid=u1';
      const yaml = await shell.ok(`auth whoami -o yaml --as=ann --as-group=crew --as-group=ops${more}`);
      assert.match(yaml, /^kind: SelfSubjectReview$/m);
      assert.match(yaml, /^ {4}groups:\n {4}- crew\n {4}- ops\n {4}- system:authenticated\n/m);
      assert.match(yaml, /^ {4}uid: u1\n {4}username: ann$/m);
      if (minor >= 34) assert.match(yaml, /^ {4}extra:\n {6}team:\n {6}- a$/m);
    });

    test('names a service account by its token', async () => {
      await using shell = await open();
      const { namespace } = shell;
      await shell.ok('create serviceaccount robot');
      const token = (await shell.ok('create token robot')).trim();
      await shell.ok(`config set-credentials robot --token=${token}`);
      const account = await shell.get('serviceaccount robot');
      const { status } = JSON.parse(await shell.ok('--user=robot auth whoami -o json'));
      const { username, groups, uid, extra } = status.userInfo;
      assert.equal(username, `system:serviceaccount:${namespace}:robot`);
      assert.deepEqual(groups, [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ]);
      assert.partialDeepStrictEqual(account, { metadata: { uid } });
      assert.match(extra['authentication.kubernetes.io/credential-id'][0], /^JTI=/);
    });

    test('refuses whoever shows no good credential', async () => {
      await using shell = await open();
      await shell.ok('config set-credentials wrong --token=nonsense');
      assert.match(await shell.fails('--user=wrong auth whoami'), /Unauthorized|must be logged in/);
    });
  });
}
