import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { writeYaml } from '../../../../src/api/index.ts';
import { exitCodes } from '../../../../src/base/index.ts';
import { temporaryFolder } from '../../../support/index.ts';
import { binding, bindingsIn, clusterRoles, role, rolesIn, user } from '../../apiserver/authz/rbac/served.ts';
import { startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const server = await startServer();
const folder = await temporaryFolder();
after(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});
const { admin } = server;

const apiVersion = 'rbac.authorization.k8s.io/v1';
const readPods = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };
const typed = (kind: string, object: object) => ({ apiVersion, kind, ...object });
const readers = typed('ClusterRole', role('readers', readPods));
const forJane = typed('RoleBinding', binding('jane', 'ClusterRole', 'readers', user('jane')));
const yaml = (...objects: object[]) => objects.map((object) => writeYaml(object)).join('---\n');

const diff = (input: string, ...args: string[]) =>
  runCommandLine(['access', 'diff', '-f', '-', '--kubeconfig', server.running.kubeconfig, ...args], input);

describe('nodeward access diff', () => {
  test('judges all documents together, and says by its code that something changes', async () => {
    const { code, stdout, stderr } = await diff(yaml(forJane, readers), '-n', 'default');
    assert.equal(code, exitCodes.failed, stderr);
    assert.match(stdout, /^\+ +User jane +default +get, list +pods$/m);
    await admin.refused('NotFound', 'GET', `${clusterRoles}/readers`);
  });

  test('says by code 0 that nothing changes', async () => {
    await admin.must('POST', clusterRoles, readers);
    await admin.must('POST', bindingsIn('default'), forJane);
    const { code, stdout } = await diff(`# what is there\n${yaml(readers, forJane)}---\n# nothing\n`);
    assert.deepEqual([code, stdout], [exitCodes.ok, 'nothing changes\n']);
  });

  test('tells what is lost, and where it is kept', async () => {
    const everywhere = {
      ...typed('ClusterRoleBinding', binding('kim', 'ClusterRole', 'readers', user('kim'))),
    };
    await admin.must('POST', `/apis/${apiVersion}/clusterrolebindings`, everywhere);
    await admin.must('POST', rolesIn('default'), role('own', readPods));
    await admin.must('POST', bindingsIn('default'), binding('kim', 'Role', 'own', user('kim')));
    const nobody = { ...everywhere, subjects: [] };
    const { code, stdout } = await diff(JSON.stringify(nobody));
    assert.equal(code, exitCodes.failed);
    assert.match(stdout, /^- +User kim +\(everywhere but default\) +get, list +pods$/m);
  });

  test('reads files, lists and JSON one after another, and passes over what is no role', async () => {
    const file = join(folder.path, 'all.json');
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [readers, { apiVersion: 'v1', kind: 'ConfigMap' }],
    };
    await writeFile(file, `${JSON.stringify(list)}\n${JSON.stringify(forJane, null, 2)}\n`);
    const { code, stderr } = await runCommandLine([
      ...['access', 'diff', '-f', file, '--kubeconfig', server.running.kubeconfig],
    ]);
    assert.equal(code, exitCodes.ok, stderr);
    assert.equal(stderr, 'note: 1 objects that are no roles or bindings are passed over\n');
  });

  test('reads what begins with very many empty lines', async () => {
    const { code, stderr } = await diff(`${'\n'.repeat(10_000)}# readers\n${yaml(readers)}`);
    assert.equal(code, exitCodes.ok, stderr);
  });

  test('prints the whole answer for programs', async () => {
    const more = { ...readers, rules: [{ ...readPods, verbs: ['get', 'list', 'watch'] }] };
    const { stdout } = await diff(yaml(more), '-o', 'json');
    const { kind, status } = JSON.parse(stdout);
    assert.equal(kind, 'AccessDiff');
    assert.ok(status.changes.some(({ subject }: { subject: { name: string } }) => subject.name === 'jane'));
  });

  test('says by a code above 1 that it cannot tell', async () => {
    const wrong = [
      'a: [',
      '{"a":',
      'text',
      '',
      yaml({ ...readers, rules: [{ verbs: [] }] }),
      yaml({ ...readers, ruels: [] }),
      yaml({ ...forJane, metadata: { name: 'jane', namespace: 'other' } }),
    ];
    for (const input of wrong) {
      const { code, stderr } = await diff(input, '-n', 'default');
      assert.ok(code > 1, `${input}: ${code}`);
      assert.match(stderr, /^nodeward: /);
    }
    const missing = await runCommandLine([
      'access',
      'diff',
      '-f',
      join(folder.path, 'nope'),
      '--root-dir=/nowhere',
    ]);
    assert.ok(missing.code > 1);
    assert.equal((await runCommandLine(['access', 'diff'])).code, exitCodes.usage);
  });
});
