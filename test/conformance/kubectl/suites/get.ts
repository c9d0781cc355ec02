import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configMap, lease, pod, secret } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell } from '../shell.ts';
import { columnsOf, linesOf } from '../tables.ts';

export function getSuite(open: OpenShell, { minor }: Release): void {
  describe('get', () => {
    test('shows a table with a kind’s own columns, and more of them when wide', async () => {
      await using shell = await open();
      await shell.ok('create -f -', secret('key', { a: '1', b: '2' }));
      await shell.ok('create -f -', pod('web', { nodeName: 'somewhere' }));

      const [head = '', row = '', ...rest] = linesOf(await shell.ok('get secrets key'));
      assert.deepEqual(columnsOf(head), ['NAME', 'TYPE', 'DATA', 'AGE']);
      assert.match(row, /^key\s+Opaque\s+2\s+\d+s$/);
      assert.deepEqual(rest, []);
      const narrow = columnsOf(linesOf(await shell.ok('get pods'))[0]);
      assert.deepEqual(narrow, ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE']);
      const [wideHead, wideRow = ''] = linesOf(await shell.ok('get pod web -o wide'));
      assert.deepEqual(columnsOf(wideHead), [...narrow, 'IP', 'NODE', 'NOMINATED NODE', 'READINESS GATES']);
      assert.match(wideRow, /^web\s+0\/1\s+Pending\s+0\s+\d+s\s+<none>\s+somewhere\s+<none>\s+<none>\s*$/);
    });

    test('answers JSON, YAML and names', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { colour: 'blue', text: 'two\nlines\n' }));

      assert.partialDeepStrictEqual(await shell.get('configmap one'), {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'one', namespace: shell.namespace },
        data: { colour: 'blue', text: 'two\nlines\n' },
      });
      const yaml = await shell.ok('get cm/one -o yaml');
      assert.match(yaml, /^apiVersion: v1\ndata:\n {2}colour: blue\n {2}text: \|\n {4}two\n {4}lines\n/);
      assert.equal(await shell.ok('get configmaps/one -o name'), 'configmap/one\n');
      assert.partialDeepStrictEqual(await shell.get('configmaps --field-selector=metadata.name=one'), {
        kind: 'List',
        items: [{ kind: 'ConfigMap', metadata: { name: 'one' } }],
      });
    });

    if (minor >= 35) {
      test('answers KYAML, which can be sent back', async () => {
        await using shell = await open();
        await shell.ok('create -f -', configMap('one', { colour: 'blue' }));
        const kyaml = await shell.ok('get configmap one -o kyaml');
        assert.match(kyaml, /^---\n\{\n {2}apiVersion: "v1",\n/);
        await shell.ok('delete configmap one');
        await shell.ok('create -f -', kyaml.replace(/^ +resourceVersion: .*\n/m, ''));
        assert.equal(await shell.ok('get configmap one -o jsonpath={.data.colour}'), 'blue');
      });
    }

    test('picks fields with jsonpath, a template and columns of one’s own', async () => {
      await using shell = await open();
      await shell.ok('create -f -', lease('b', 'bob'));
      await shell.ok('create -f -', lease('a', 'ann'));

      const path = '{range .items[*]}{.metadata.name}={.spec.holderIdentity};{end}';
      assert.equal(await shell.ok(['get', 'leases', '-o', `jsonpath=${path}`]), 'a=ann;b=bob;');
      const template = '{{range .items}}{{.spec.leaseDurationSeconds}} {{end}}';
      assert.equal(await shell.ok(['get', 'leases', '-o', `go-template=${template}`]), '40 40 ');
      const columns = 'custom-columns=WHO:.spec.holderIdentity,WHAT:.metadata.name,NONE:.spec.nothing';
      const rows = linesOf(await shell.ok(`get leases -o ${columns} --sort-by=.spec.holderIdentity`));
      assert.deepEqual(rows.map(columnsOf), [
        ['WHO', 'WHAT', 'NONE'],
        ['ann', 'a', '<none>'],
        ['bob', 'b', '<none>'],
      ]);
    });

    test('selects by labels and fields', async () => {
      await using shell = await open();
      for (const [name, tier] of Object.entries({ front: 'web', back: 'db', cache: 'web' })) {
        await shell.ok('create -f -', configMap({ name, labels: { tier } }));
      }
      await shell.ok('create -f -', configMap('bare'));
      const named = async (...selector: string[]): Promise<string[]> => {
        const output = await shell.ok(['get', 'configmaps', '-o', 'name', ...selector]);
        const names = linesOf(output).map((line) => line.replace('configmap/', ''));
        return names.filter((name) => name !== 'kube-root-ca.crt');
      };

      assert.deepEqual(await named('-l', 'tier=web'), ['cache', 'front']);
      assert.deepEqual(await named('-l', 'tier!=web'), ['back', 'bare']);
      assert.deepEqual(await named('-l', 'tier in (web, db),tier notin (db)'), ['cache', 'front']);
      assert.deepEqual(await named('-l', 'tier'), ['back', 'cache', 'front']);
      assert.deepEqual(await named('-l', '!tier'), ['bare']);
      assert.deepEqual(await named('--field-selector=metadata.name=back'), ['back']);
      assert.deepEqual(await named('--field-selector=metadata.name!=back', '-l', 'tier'), ['cache', 'front']);
      const refused = await shell.fails('get configmaps --field-selector=data.colour=blue');
      assert.match(refused, /^Error from server \(BadRequest\): .*data\.colour/);
    });

    test('shows labels, every namespace, several kinds and no headers', async () => {
      await using one = await open();
      await using two = await open();
      const labels = { app: crypto.randomUUID() };
      for (const shell of [one, two]) await shell.ok('create -f -', configMap({ name: 'same', labels }));
      await two.ok('create -f -', secret({ name: 'key', labels }));

      const [head, row = ''] = linesOf(await one.ok('get configmaps same --show-labels'));
      assert.deepEqual(columnsOf(head), ['NAME', 'DATA', 'AGE', 'LABELS']);
      assert.match(row, new RegExp(`app=${labels.app}$`));
      assert.match(
        await one.ok('get cm same -L app --no-headers'),
        new RegExp(`^same .* ${labels.app}\\s*$`),
      );
      const everywhere = linesOf(await one.ok(`get configmaps -A -l app=${labels.app}`));
      assert.deepEqual(columnsOf(everywhere[0]), ['NAMESPACE', 'NAME', 'DATA', 'AGE']);
      assert.deepEqual(
        everywhere.slice(1).map((line) => columnsOf(line).slice(0, 2)),
        [one, two].map(({ namespace }) => [namespace, 'same']).sort(),
      );
      const both = await two.ok(`get configmaps,secrets -l app=${labels.app} -o name`);
      assert.deepEqual(linesOf(both), ['configmap/same', 'secret/key']);
    });

    test('reads a long list in chunks', async () => {
      await using shell = await open();
      const names = Array.from({ length: 7 }, (_, index) => `chunk-${index}`);
      await shell.ok('create -f -', {
        apiVersion: 'v1',
        kind: 'List',
        items: names.map((name) => lease(name)),
      });
      const { stdout, stderr } = await shell.run('get leases -o name --chunk-size=3 -v=6');
      assert.deepEqual(
        linesOf(stdout),
        names.map((name) => `lease.coordination.k8s.io/${name}`),
      );
      const tokens = stderr.match(/[?&]continue=[^&\s"]+/g) ?? [];
      assert.equal(new Set(tokens).size, 2, stderr);
      const [, ...rows] = linesOf(await shell.ok('get leases --chunk-size=3'));
      assert.deepEqual(
        rows.map((row) => columnsOf(row)[0]),
        names,
      );
    });

    test('says what is not there', async () => {
      await using shell = await open();
      assert.equal(
        await shell.fails('get configmap nothing'),
        'Error from server (NotFound): configmaps "nothing" not found\n',
      );
      assert.equal(await shell.ok('get configmap nothing --ignore-not-found'), '');
      assert.equal(
        await shell.fails('get sprockets'),
        'error: the server doesn\'t have a resource type "sprockets"\n',
      );
      const { stderr } = await shell.run('get leases');
      assert.equal(stderr, `No resources found in ${shell.namespace} namespace.\n`);
    });
  });

  describe('get --watch', () => {
    test('shows what is there and then each change', async () => {
      await using shell = await open();
      await shell.ok('create -f -', lease('first', 'ann'));
      await using watching = await shell.start('get leases --watch');
      await watching.waitForOutput(/^first +ann /m);
      await shell.ok('create -f -', lease('second', 'bob'));
      await watching.waitForOutput(/^second +bob /m);
      await shell.ok('replace -f -', lease('first', 'cem'));
      await watching.waitForOutput(/^first +cem /m);
    });

    test('names the events when asked to', async () => {
      await using shell = await open();
      await using watching = await shell.start('get configmaps --watch-only --output-watch-events -l app');
      // it says nothing when it begins, so objects are made until one is seen
      const label = { app: 'web' };
      await shell.ok('create -f -', lease('unrelated'));
      for (let turn = 0; turn < 50 && watching.stdout === ''; turn += 1) {
        await shell.ok('create -f -', configMap({ name: `turn-${turn}`, labels: label }));
      }
      await watching.waitForOutput(/^EVENT +NAME +DATA +AGE\nADDED +turn-\d+ /);
      await shell.ok('delete configmaps -l app=web');
      await watching.waitForOutput(/^DELETED +turn-\d+ /m);
    });

    test('ends at the time limit that it was given', async () => {
      await using shell = await open();
      const lines = linesOf(await shell.ok('get --raw /api/v1/namespaces?watch=true&timeoutSeconds=1'));
      assert.ok(
        lines.length > 0 && lines.every((line) => line.startsWith('{"type":"ADDED"')),
        lines.join('\n'),
      );
    });
  });
}
