import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OpenShell, Shell } from '../shell.ts';

const group = 'rbac.authorization.k8s.io';
const apiVersion = `${group}/v1`;

/** The four kinds in one file, in the namespace of that name: who has which verbs for pods. */
function policy(name: string, verbs: readonly string[], users: readonly string[]): object {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs }];
  const subjects = users.map((user) => ({ apiGroup: group, kind: 'User', name: user }));
  const metadata = { name };
  const roleRef = { apiGroup: group, name };
  const items = [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'Role', metadata: { name, namespace: name }, rules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { ...roleRef, kind: 'ClusterRole' },
      subjects,
    },
    {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace: name },
      roleRef: { ...roleRef, kind: 'Role' },
      subjects,
    },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}

const kinds = ['clusterrole', 'role', 'clusterrolebinding', 'rolebinding'];

/** Verbs and users of all four, as they are stored; undefined while one is not there. */
async function stored(
  shell: Shell,
  name: string,
): Promise<{ verbs: string[][]; users: string[][] } | undefined> {
  const found = await Promise.all(kinds.map((kind) => shell.run(`get ${kind} ${name} -o json`)));
  if (found.some(({ code }) => code !== 0)) return undefined;
  const [clusterRole, role, clusterBinding, binding] = found.map(({ stdout }) => JSON.parse(stdout));
  const verbsOf = ({ rules }: { rules: { verbs: string[] }[] }) => rules.flatMap(({ verbs }) => verbs).sort();
  const usersOf = ({ subjects }: { subjects: { name: string }[] }) =>
    subjects.map(({ name: user }) => user).sort();
  return { verbs: [clusterRole, role].map(verbsOf), users: [clusterBinding, binding].map(usersOf) };
}

export function reconcileSuite(open: OpenShell): void {
  describe('auth reconcile', () => {
    test('makes the four kinds, adds what they lack, and is content the second time', async () => {
      await using shell = await open();
      const name = shell.namespace;
      const file = await shell.file('policy.json', policy(name, ['get'], ['ann']));
      const said = await shell.ok(`auth reconcile -f ${file}`);
      for (const kind of kinds)
        assert.match(said, new RegExp(`^${kind}\\.${group}/${name} reconciled$`, 'm'));
      const made = { verbs: [['get'], ['get']], users: [['ann'], ['ann']] };
      assert.deepEqual(await stored(shell, name), made);
      await shell.ok(`auth reconcile -f ${file}`);
      assert.deepEqual(await stored(shell, name), made);
      await shell.ok('auth reconcile -f -', policy(name, ['list'], ['bob']));
      assert.deepEqual(await stored(shell, name), {
        verbs: [
          ['get', 'list'],
          ['get', 'list'],
        ],
        users: [
          ['ann', 'bob'],
          ['ann', 'bob'],
        ],
      });
      await shell.ok(`delete clusterrole,clusterrolebinding ${name}`);
    });

    test('takes away what is too much only when told to', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok('auth reconcile -f -', policy(name, ['get', 'list'], ['ann', 'bob']));
      const less = policy(name, ['get'], ['ann']);
      await shell.ok('auth reconcile --remove-extra-permissions -f -', less);
      const both = ['ann', 'bob'];
      assert.deepEqual(await stored(shell, name), { verbs: [['get'], ['get']], users: [both, both] });
      await shell.ok('auth reconcile --remove-extra-subjects -f -', less);
      assert.deepEqual(await stored(shell, name), { verbs: [['get'], ['get']], users: [['ann'], ['ann']] });
      await shell.ok(`delete clusterrole,clusterrolebinding ${name}`);
    });

    test('as a dry run changes nothing; one by the server is more than kubectl can', async () => {
      await using shell = await open();
      const name = shell.namespace;
      const dry = 'auth reconcile --dry-run=client --remove-extra-permissions --remove-extra-subjects -f -';
      const said = await shell.ok(dry, policy(name, ['get'], ['ann']));
      assert.match(said, new RegExp(`^role\\.${group}/${name} reconciled.*dry run`, 'm'));
      assert.equal(await stored(shell, name), undefined);
      await shell.ok('auth reconcile -f -', policy(name, ['get', 'list'], ['ann']));
      const before = await stored(shell, name);
      const other = policy(name, ['watch'], ['bob']);
      await shell.ok(dry, other);
      assert.match(await shell.fails('auth reconcile --dry-run=server -f -', other), /not supported yet/);
      assert.deepEqual(await stored(shell, name), before);
      await shell.ok(`delete clusterrole,clusterrolebinding ${name}`);
    });

    test('makes a binding anew whose role is another, which no change can do', async () => {
      await using shell = await open();
      const subjects = [{ apiGroup: group, kind: 'User', name: 'ann' }];
      const binding = (role: string) => ({
        apiVersion,
        kind: 'RoleBinding',
        metadata: { name: 'ann', namespace: shell.namespace },
        roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
        subjects,
      });
      await shell.ok('auth reconcile -f -', binding('view'));
      const uid = 'get rolebinding ann -o jsonpath={.metadata.uid}';
      const before = await shell.ok(uid);
      assert.match(await shell.fails('replace -f -', binding('edit')), /cannot change roleRef/);
      await shell.ok('auth reconcile -f -', binding('edit'));
      assert.equal(await shell.ok('get rolebinding ann -o jsonpath={.roleRef.name}'), 'edit');
      assert.notEqual(await shell.ok(uid), before);
    });

    test('gives nobody what they do not have', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok('create rolebinding admins --clusterrole=admin --user=ann');
      const role = { apiVersion, kind: 'Role', metadata: { name, namespace: name } };
      const more = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }];
      const refused = await shell.fails('auth reconcile --as=ann -f -', { ...role, rules: more });
      assert.match(refused, /is attempting to grant RBAC permissions not currently held/);
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
      await shell.ok('auth reconcile --as=ann -f -', { ...role, rules });
    });
  });
}
