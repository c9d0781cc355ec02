import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Release } from '../release.ts';
import type { Row } from '../served.ts';
import { measured, reviews, storedForOthers, stored as storedWithSample } from '../served.ts';
import type { OpenShell } from '../shell.ts';
import { columnsOf, linesOf } from '../tables.ts';

/** The short names between the first two columns may be missing. */
function parseRow(line: string): Row {
  const cells = columnsOf(line);
  const [apiVersion = '', namespaced = '', kind = ''] = cells.slice(-3);
  return [cells[0] ?? '', apiVersion, namespaced === 'true', kind];
}

const stored = [...storedWithSample, ...storedForOthers];
const names = (rows: readonly Row[]): string[] => rows.map(([name]) => name).sort();

export function discoverySuite(open: OpenShell, { minor }: Release): void {
  describe('discovery', () => {
    test('api-resources names every kind, with its short names, versions and scope', async () => {
      await using shell = await open();
      const [head, ...lines] = linesOf(await shell.ok('api-resources'));
      assert.deepEqual(columnsOf(head), ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND']);
      const found = new Set(lines.map((line) => JSON.stringify(parseRow(line))));
      const missing = [...stored, ...reviews, ...measured].filter((row) => !found.has(JSON.stringify(row)));
      assert.deepEqual(missing, []);
      const short = lines.map(columnsOf).map(([name, second]) => `${name} ${second}`);
      for (const pair of [
        'configmaps cm',
        'certificatesigningrequests csr',
        'events ev',
        'namespaces ns',
        'nodes no',
        'pods po',
        'serviceaccounts sa',
      ])
        assert.ok(short.includes(pair), pair);
    });

    test('api-resources picks by verb, scope and group', async () => {
      await using shell = await open();
      const found = async (...filter: string[]): Promise<Row[]> =>
        linesOf(await shell.ok(['api-resources', '--no-headers', ...filter])).map(parseRow);
      const all = [...stored, ...reviews];
      const within = (rows: readonly Row[], group: string): Row[] =>
        rows.filter(([, version]) => version.startsWith(group));

      assert.deepEqual(names(await found('--verbs=list,watch,delete')), names(stored));
      const many = stored.filter(([name]) => name !== 'namespaces');
      assert.deepEqual(names(await found('--verbs=deletecollection')), names(many));
      const scoped = names(within(await found('--namespaced=false'), 'v1'));
      assert.deepEqual(scoped, ['componentstatuses', 'namespaces', 'nodes', 'persistentvolumes']);
      const group = 'rbac.authorization.k8s.io';
      assert.deepEqual(names(await found(`--api-group=${group}`)), names(within(all, group)));
      const wide = await shell.ok('api-resources -o wide --api-group=coordination.k8s.io');
      for (const verb of ['create', 'delete', 'deletecollection', 'get', 'list', 'update', 'watch']) {
        assert.match(wide, new RegExp(`\\b${verb}\\b`));
      }
      const plain = linesOf(await shell.ok('api-resources -o name'));
      assert.ok(plain.includes('leases.coordination.k8s.io') && plain.includes('pods'), plain.join());
    });

    test('api-versions lists the groups', async () => {
      await using shell = await open();
      const versions = [
        ...new Set(['autoscaling/v1', ...[...stored, ...reviews, ...measured].map(([, version]) => version)]),
      ].sort();
      assert.deepEqual(linesOf(await shell.ok('api-versions')), versions);
    });

    test('version tells the server’s', async () => {
      await using shell = await open();
      const answer: unknown = JSON.parse(await shell.ok('version -o json'));
      assert.partialDeepStrictEqual(answer, { serverVersion: { major: '1', minor: '31' } });
      assert.match(JSON.stringify(answer), /"gitVersion":"v1\.31\.0\+nodeward-/);
    });

    if (minor >= 27) {
      test('get all finds what is in the category', async () => {
        await using shell = await open();
        const category = linesOf(await shell.ok('api-resources --categories=all -o name'));
        assert.deepEqual(category, [
          ...['pods', 'replicationcontrollers', 'services'],
          ...['daemonsets.apps', 'deployments.apps', 'replicasets.apps', 'statefulsets.apps'],
          ...['horizontalpodautoscalers.autoscaling', 'cronjobs.batch', 'jobs.batch'],
        ]);
      });
    }
  });

  describe('--raw', () => {
    test('reads any path', async () => {
      await using shell = await open();
      assert.equal(await shell.ok('get --raw /healthz'), 'ok');
      assert.match(await shell.ok('get --raw /readyz?verbose'), /check passed\n$/);
      const found: unknown = JSON.parse(await shell.ok('get --raw /api/v1/namespaces?pretty=true'));
      assert.partialDeepStrictEqual(found, { kind: 'NamespaceList' });
      const groups: unknown = JSON.parse(await shell.ok('get --raw /apis'));
      assert.partialDeepStrictEqual(groups, { kind: 'APIGroupList' });
      assert.match(await shell.fails('get --raw /nowhere'), /^Error from server \(NotFound\)/);
    });

    test('creates, replaces and deletes', async () => {
      await using shell = await open();
      const path = `/api/v1/namespaces/${shell.namespace}/configmaps`;
      const sent = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' }, data: { a: '1' } };
      const answer = await shell.ok(`create --raw ${path} -f -`, sent);
      assert.partialDeepStrictEqual(JSON.parse(answer), sent);
      await shell.ok(`replace --raw ${path}/one -f -`, { ...sent, data: { a: '2' } });
      assert.equal(await shell.ok('get configmap one -o jsonpath={.data.a}'), '2');
      const deleted: unknown = JSON.parse(await shell.ok(`delete --raw ${path}/one`));
      assert.partialDeepStrictEqual(deleted, { kind: 'Status', status: 'Success' });
    });
  });
}
