import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { loadYamlReader } from '../../../../src/api/index.ts';
import { exitCodes } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { binding, bindingsIn, clusterRoles, role, rolesIn, user } from '../../apiserver/authz/rbac/served.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const readYaml = await loadYamlReader();

const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
await admin.must('POST', '/api/v1/namespaces', { metadata: { name: 'team' } });
await admin.must('POST', clusterRoles, role('readers', readPods));
await admin.must('POST', bindingsIn('team'), binding('jane', 'ClusterRole', 'readers', user('jane')));

const access = (...args: string[]) =>
  runCommandLine(['access', ...args, '--kubeconfig', server.running.kubeconfig]);

describe('nodeward access explain', () => {
  test('says yes with code 0, and through what', async () => {
    const { code, stdout, stderr } = await access('explain', '--as=jane', 'get', 'po/web', '-n', 'team');
    assert.equal(code, exitCodes.ok, stderr);
    assert.match(stdout, /^yes: jane may get pods web in namespace team \(RBAC\)\n/);
    assert.match(
      stdout,
      /RoleBinding team\/jane +ClusterRole readers +User jane +get, list pods$/m,
      'the binding, the role, the subject and the rule',
    );
    assert.equal(stderr, '');
  });

  test('says no with code 1, what nearly allows it, and what to apply: then it says yes', async () => {
    const question = ['explain', '--as=jane', 'delete', 'Pod/web', '-n', 'team'];
    const { code, stdout } = await access(...question);
    assert.equal(code, exitCodes.failed);
    assert.match(stdout, /^no: jane may not delete pods web in namespace team\n/);
    assert.match(stdout, /VerbMissing +ClusterRole "readers" allows get, list of it, not delete$/m);
    const [first = '', second = ''] = stdout.slice(stdout.indexOf('apiVersion')).split('---\n');
    await admin.must('POST', rolesIn('team'), Object(readYaml(first).value));
    await admin.must('POST', bindingsIn('team'), Object(readYaml(second).value));
    assert.equal((await access(...question)).code, exitCodes.ok);
  });

  test('knows resources by every name that discovery has, and takes others as they are', async () => {
    const specs = [
      ['clusterrole', { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }],
      ['leases.coordination.k8s.io', { group: 'coordination.k8s.io', resource: 'leases' }],
      ['events.v1.events.k8s.io', { group: 'events.k8s.io', resource: 'events' }],
      ['widgets.example.com', { group: 'example.com', resource: 'widgets' }],
      ['*', { group: '*', resource: '*' }],
    ] as const;
    for (const [name, expected] of specs) {
      const { stdout, stderr } = await access('explain', '--as=jane', 'get', name, '-o', 'json');
      assert.deepEqual(JSON.parse(stdout).spec.resourceAttributes, { verb: 'get', ...expected }, name);
      assert.equal(stderr !== '', name.startsWith('widgets'), stderr);
    }
  });

  test('asks “did you mean” for a resource that is not served, and offers no Role for it', async () => {
    const { code, stdout, stderr } = await access('explain', '--as=joe', 'get', 'confgmaps');
    assert.equal(code, exitCodes.failed);
    assert.equal(stderr, 'note: the server serves no "confgmaps": did you mean configmaps?\n');
    assert.match(stdout, /^no: joe may not get confgmaps\n/);
    assert.doesNotMatch(stdout, /kind: |least that would allow/);
    const served = await access('explain', '--as=joe', 'get', 'configmaps');
    assert.match(served.stdout, /least that would allow it[\s\S]*kind: ClusterRole\n/);
    for (const question of [
      ['impersonate', 'users'],
      ['sign', 'signers.certificates.k8s.io'],
      ['get', '*'],
    ]) {
      const { stdout: told } = await access('explain', '--as=joe', ...question);
      assert.match(told, /kind: ClusterRole\n/, `${question}: only rules know of it`);
    }
  });

  test('passes a namespace over where there can be none, and says so', async () => {
    const { stdout, stderr } = await access(
      'explain',
      '--as=jane',
      'get',
      'no/a',
      '-n',
      'team',
      '-o',
      'yaml',
    );
    assert.match(stderr, /^note: nodes belong to no namespace/);
    assert.deepEqual(Object(readYaml(stdout).value).spec.resourceAttributes, {
      verb: 'get',
      resource: 'nodes',
      name: 'a',
    });
  });

  test('asks for paths, subresources and service accounts with the groups that they have', async () => {
    const path = await access('explain', '--as=jane', 'get', '/healthz', '-o', 'json');
    assert.equal(path.code, exitCodes.ok, 'whoever is authenticated may');
    assert.deepEqual(JSON.parse(path.stdout).status.groups, ['system:authenticated']);
    const bot = await access(
      ...['explain', '--as=system:serviceaccount:team:bot', '--as-group=x', 'get', 'pods'],
      ...['--subresource=log', '-o', 'json'],
    );
    const { spec } = JSON.parse(bot.stdout);
    assert.equal(spec.resourceAttributes.subresource, 'log');
    assert.deepEqual(spec.groups, [
      ...['x', 'system:serviceaccounts', 'system:serviceaccounts:team', 'system:authenticated'],
    ]);
  });

  test('says by a code above 1 that there is no answer: nobody listens, or whoever asks may not', async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, 'kubeconfig');
    const known = await readFile(server.running.kubeconfig, 'utf8');
    for (const [text, why] of [
      [known.replace(/(server:.*):\d+/, '$1:1'), /refuses connections/],
      [
        known.replace(/client-certificate-data: .*\n/, '').replace(/client-key-data: .*/, 'token: x'),
        /answers 401/,
      ],
    ] as const) {
      await writeFile(path, text);
      const { code, stderr } = await runCommandLine([
        'access',
        'explain',
        'get',
        'pods',
        '--kubeconfig',
        path,
      ]);
      assert.equal(code, exitCodes.usage, stderr);
      assert.match(stderr, why);
    }
  });

  test('without anybody explains whoever asks', async () => {
    const { code, stdout } = await access('explain', 'delete', 'nodes');
    assert.equal(code, exitCodes.ok);
    assert.match(stdout, /^yes: kubernetes-admin may delete nodes \(system:masters\)/);
  });
});

describe('nodeward access who-can', () => {
  test('names subjects with their bindings and roles', async () => {
    const { code, stdout } = await access('who-can', 'list', 'pods', '-n', 'team');
    assert.equal(code, exitCodes.ok);
    assert.match(stdout, /^User jane +RoleBinding team\/jane +ClusterRole readers$/m);
    assert.match(stdout, /^Group system:masters +\(system:masters\)$/m);
    const everywhere = await access('who-can', 'list', 'pods', '-o', 'json');
    assert.doesNotMatch(everywhere.stdout, /jane/);
  });

  test('shows no character that a terminal would obey', async () => {
    const evil = binding('evil', 'ClusterRole', 'readers', user('a\u001b[2J\nUser b'));
    await admin.must('POST', bindingsIn('default'), evil);
    const { stdout } = await access('who-can', 'list', 'pods', '-n', 'default');
    assert.match(stdout, /^User a\?\[2J\?User b /m);
  });
});

describe('nodeward access what-can', () => {
  test('lists rights by namespace', async () => {
    const { code, stdout } = await access('what-can', '--as=jane');
    assert.equal(code, exitCodes.ok);
    assert.match(stdout, /^team +.*get, list.* +pods$/m);
    assert.match(stdout, /^\(everywhere\) +create +selfsubjectaccessreviews\.authorization\.k8s\.io/m);
    const other = await access('what-can', '--as=jane', '-n', 'default');
    assert.doesNotMatch(other.stdout, /^team/m);
  });
});

test('what cannot be asked is told with its code', async () => {
  for (const args of [
    [],
    ['explain'],
    ['explain', 'get'],
    ['who-can', 'get', 'pods', '--as='],
    ['what-can', 'x', '--as=y'],
    ['what-can', 'ServiceAccount/x'],
  ]) {
    assert.equal((await access(...args)).code, exitCodes.usage, args.join(' '));
  }
  assert.equal((await access('explain', '', 'pods')).code, exitCodes.usage);
  const { code, stderr } = await runCommandLine(['access', 'what-can', '--root-dir=/nowhere']);
  assert.equal(code, exitCodes.configuration);
  assert.match(stderr, /^nodeward: there is no \/nowhere\/admin\.kubeconfig; .*--kubeconfig\n$/);
});
