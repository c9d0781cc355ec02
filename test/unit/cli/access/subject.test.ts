import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { exitCodes } from '../../../../src/base/index.ts';
import { parseSubject, toIdentity } from '../../../../src/cli/access/subject.ts';
import { binding, bindingsIn, clusterRoles, role, user } from '../../apiserver/authz/rbac/served.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const access = (...args: string[]) =>
  runCommandLine(['access', ...args, '--kubeconfig', server.running.kubeconfig]);

const readPods = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
await admin.must('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
await admin.must('POST', clusterRoles, role('readers', readPods));
await admin.must('POST', bindingsIn('team'), binding('jane', 'ClusterRole', 'readers', user('jane')));
const bot = { kind: 'ServiceAccount', namespace: 'team', name: 'bot' };
await admin.must('POST', bindingsIn('team'), binding('bot', 'ClusterRole', 'readers', bot));
const crew = { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'crew' };
await admin.must('POST', bindingsIn('team'), binding('crew', 'ClusterRole', 'readers', crew));

/** The same service account, the same user and the same group, each in every spelling. */
const spellings = {
  bot: [['--as=ServiceAccount/team/bot'], ['--as=system:serviceaccount:team:bot']],
  jane: [['--as=jane'], ['--as=User/jane']],
  crew: [['--as=Group/crew'], ['--as-group=crew']],
};

describe('one person, three spellings', () => {
  test('a subject is read alike in all its forms', async () => {
    const account = { user: 'system:serviceaccount:team:bot' };
    const groups = ['system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'];
    for (const text of ['ServiceAccount/team/bot', account.user])
      assert.deepEqual(await toIdentity({ as: parseSubject(text) }), { ...account, groups });
    assert.deepEqual(parseSubject('User/jane'), parseSubject('jane'));
    assert.deepEqual(await toIdentity({ as: parseSubject('Group/crew') }), { groups: ['crew'] });
    for (const text of ['', 'User/', 'Group/', 'ServiceAccount/bot', 'ServiceAccount/a/b/c'])
      assert.throws(() => parseSubject(text), /User\/NAME, Group\/NAME, ServiceAccount\/NAMESPACE\/NAME/);
  });

  for (const [who, forms] of Object.entries(spellings)) {
    test(`explain, what-can and who-can take ${who} in every form`, async () => {
      for (const args of [
        ['explain', 'get', 'pods', '-n', 'team'],
        ['what-can'],
        ['who-can', 'get', 'pods', '-n', 'team'],
      ]) {
        const ends = await Promise.all(forms.map((form) => access(...args, ...form, '-o', 'json')));
        const [first, ...others] = ends.map(({ code, stdout }) => ({ code, ...JSON.parse(stdout) }));
        assert.equal(first.code, exitCodes.ok);
        for (const other of others) assert.deepEqual(other, first, args.join(' '));
      }
    });
  }

  test('what-can takes the subject as an argument, and refuses two', async () => {
    const [named, flagged] = [
      await access('what-can', 'Group/crew'),
      await access('what-can', '--as=Group/crew'),
    ];
    assert.deepEqual(named, flagged);
    assert.match(named.stdout, /^team +get +pods$/m);
    assert.equal((await access('what-can', 'jane', '--as=bob')).code, exitCodes.usage);
  });

  test('who-can and diff are narrowed to a subject and its groups', async () => {
    const names = async (...args: string[]) =>
      (await access('who-can', 'get', 'pods', '-n', 'team', '-o', 'name', ...args)).stdout.trim().split('\n');
    assert.deepEqual(await names('--as=jane'), ['User/jane']);
    assert.deepEqual(await names('--as=jane', '--as-group=crew'), ['User/jane', 'Group/crew']);
    assert.deepEqual(await names('--as=ServiceAccount/team/bot'), ['ServiceAccount/team/bot']);
    const file = ['diff', '-f', '-', '--kubeconfig', server.running.kubeconfig];
    const text = JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'more', namespace: 'default' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'readers' },
      subjects: [crew, user('ann')],
    });
    const diff = (...args: string[]) => runCommandLine(['access', ...file, ...args], text);
    assert.equal((await diff('-o', 'name')).stdout, 'User/ann\nGroup/crew\n');
    assert.equal((await diff('-o', 'name', '--as=User/ann')).stdout, 'User/ann\n');
    assert.equal((await diff('--as=jane')).code, exitCodes.ok);
  });

  test('trim refuses the old flag with the new spelling', async () => {
    const { code, stderr } = await access('trim', '--subject=jane', '--audit-log=-');
    assert.equal(code, exitCodes.usage);
    assert.match(stderr, /as the argument, or with --as/);
    assert.equal((await access('trim', '--audit-log=-', '--offline')).code, exitCodes.usage);
  });
});
