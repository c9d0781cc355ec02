import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';
import { columnsOf, linesOf } from '../tables.ts';

/** A shell in whose namespace ann may read pods and their logs, the group crew one ConfigMap, a robot the rest of them. */
async function withReaders(open: OpenShell): Promise<Shell> {
  const shell = await open();
  const { namespace } = shell;
  await shell.ok('create role pods --verb=get,list --resource=pods,pods/log');
  await shell.ok('create role one --verb=get --resource=configmaps --resource-name=one');
  await shell.ok('create role all --verb=* --resource=configmaps');
  await shell.ok('create rolebinding pods --role=pods --user=ann');
  await shell.ok('create rolebinding one --role=one --group=crew');
  await shell.ok(`create rolebinding all --role=all --serviceaccount=${namespace}:robot`);
  return shell;
}

export function canISuite(open: OpenShell, { minor }: Release): void {
  /** What is answered, with the exit code that goes with it. */
  async function answers(shell: Shell, question: string, yes: boolean): Promise<void> {
    const { code, stdout } = await shell.run(`auth can-i ${question}`);
    const [answer = ''] = linesOf(stdout);
    assert.deepEqual([code, answer.split(' ')[0]], yes ? [0, 'yes'] : [1, 'no'], question);
  }

  describe('auth can-i', () => {
    test('answers for an administrator', async () => {
      await using shell = await open();
      assert.equal(await shell.ok('auth can-i delete nodes'), 'yes\n');
      assert.equal(await shell.ok('auth can-i get pods --subresource=log -n default'), 'yes\n');
      assert.equal(await shell.ok('auth can-i get /logs/'), 'yes\n');
      assert.equal(await shell.ok('auth can-i * *'), 'yes\n');
      assert.match(await shell.ok('auth can-i --list'), /^\*\.\* +\[\] +\[\] +\[\*\]$/m);
    });

    test('answers for others: resources, names, subresources and namespaces', async () => {
      await using shell = await withReaders(open);
      for (const [question, yes] of [
        ['get pods --as=ann', true],
        ['get pod --as=ann', true],
        ['list po --as=ann', true],
        ['get pods/web --as=ann', true],
        ['get pods --subresource=log --as=ann', true],
        ['get pods/web --subresource=log --as=ann', true],
        ['get pods --subresource=exec --as=ann', false],
        ['watch pods --as=ann', false],
        ['delete pods --as=ann', false],
        ['get pods --as=ann -n default', false],
        ['get pods --as=ann --all-namespaces', false],
        ['get pods -A --as=ann', false],
        ['get pods --as=bob', false],
        ['get nodes --as=ann', false],
        ['get configmaps/one --as=bob --as-group=crew', true],
        ['get configmaps/two --as=bob --as-group=crew', false],
        ['get configmaps --as=bob --as-group=crew', false],
        ['get configmaps/one --as=bob --as-group=others --as-group=crew', true],
        ['get configmaps/one --as=crew', false],
        ['deletecollection configmaps --as=system:serviceaccount:NAMESPACE:robot', true],
        ['create configmaps --as=system:serviceaccount:NAMESPACE:other', false],
        ['get leases.coordination.k8s.io --as=ann', false],
      ] as const) {
        await answers(shell, question.replace('NAMESPACE', shell.namespace), yes);
      }
    });

    test('answers for paths', async () => {
      await using shell = await open();
      const name = shell.namespace;
      await shell.ok(`create clusterrole ${name} --verb=get --non-resource-url=/logs/*`);
      await shell.ok(`create clusterrolebinding ${name} --clusterrole=${name} --user=${name}`);
      for (const [path, yes] of [
        ['/logs/', true],
        ['/logs/kubelet', true],
        ['/logs', false],
        ['/metrics', false],
        ['/healthz', true],
      ] as const) {
        await answers(shell, `get ${path} --as=${name} --as-group=system:authenticated`, yes);
      }
      await answers(shell, `post /logs/x --as=${name}`, false);
    });

    test('with -q tells by its exit code alone', async () => {
      await using shell = await withReaders(open);
      for (const [question, code] of [
        ['get pods --as=ann', 0],
        ['delete pods --as=ann', 1],
      ] as const) {
        const answer = await shell.run(`auth can-i -q ${question}`);
        assert.deepEqual([answer.code, answer.stdout, answer.stderr], [code, '', '']);
      }
    });

    test('warns of what the server does not know', async () => {
      await using shell = await open();
      for (const [question, warning] of [
        ['get widgets', /^Warning: the server doesn't have a resource type 'widgets'/],
        ['frobnicate pods', /^Warning: verb 'frobnicate' is not a known verb/],
        ['list nodes -n default', /^Warning: resource 'nodes' is not namespace scoped/],
      ] as const) {
        const { code, stdout, stderr } = await shell.run(`auth can-i ${question}`);
        assert.deepEqual([code, stdout], [0, 'yes\n']);
        assert.match(stderr, warning);
      }
      await answers(shell, 'get widgets --as=ann', false);
    });

    test('--list shows what somebody has here, with names and paths', async () => {
      await using shell = await withReaders(open);
      const rows = linesOf(await shell.ok('auth can-i --list --as=bob --as-group=crew'));
      assert.deepEqual(columnsOf(rows[0]), ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs']);
      const cells = rows.map(columnsOf);
      const has = (...row: string[]) => cells.some((each) => each.join() === row.join());
      assert.ok(has('configmaps', '[]', '[one]', '[get]'), rows.join('\n'));
      assert.ok(has('selfsubjectaccessreviews.authorization.k8s.io', '[]', '[]', '[create]'));
      assert.ok(has('[/version]', '[]', '[get]'));
      assert.ok(!rows.some((row) => row.startsWith('pods')));
      assert.match(await shell.ok('auth can-i --list --as=ann'), /^pods\/log +\[\] +\[\] +\[get list\]$/m);
      assert.doesNotMatch(await shell.ok('auth can-i --list --as=ann -n default'), /^pods/m);
      const bare = await shell.ok('auth can-i --list --as=ann --no-headers');
      assert.doesNotMatch(bare, /^Resources/);
    });

    test('--list says that what a node may is not all', async () => {
      await using shell = await open();
      const node = '--as=system:node:a --as-group=system:nodes';
      const { code, stderr } = await shell.run(`auth can-i --list ${node}`);
      assert.equal(code, 0);
      if (minor >= 20) assert.match(stderr, /the list may be incomplete: node authorizer does not support/);
    });
  });
}
