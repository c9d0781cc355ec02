import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clusterKinds, labelled, listOf, oneOfEachKind } from '../each-kind.ts';
import { configMap, serviceAccount } from '../manifests.ts';
import type { Release } from '../release.ts';
import type { OpenShell, Shell } from '../shell.ts';
import { linesOf } from '../tables.ts';

const apply = 'apply --server-side -f -';
const applied = 'configmap/one serverside-applied\n';
const identity = 'get configmap one -o jsonpath={.metadata.resourceVersion}';

/** Who is known to own something of an object, as `manager operation`. */
async function managers(shell: Shell, what: string): Promise<string[]> {
  const path = '{range .metadata.managedFields[*]}{.manager} {.operation}{"\\n"}{end}';
  return linesOf(await shell.ok(['get', ...what.split(' '), '-o', `jsonpath=${path}`])).sort();
}

/** The server compares what each manager applied; kubectl only sends the configuration. */
export function serverSideApplySuite(open: OpenShell, { minor }: Release): void {
  describe('apply --server-side', () => {
    test('creates, changes nothing the second time, and removes what is no longer applied', async () => {
      await using shell = await open();
      assert.equal(await shell.ok(apply, configMap('one', { a: '1', b: '2' })), applied);
      assert.deepEqual(await managers(shell, 'configmap one'), ['kubectl Apply']);
      const version = await shell.ok(identity);
      assert.equal(await shell.ok(apply, configMap('one', { a: '1', b: '2' })), applied);
      assert.equal(await shell.ok(identity), version);
      await shell.ok('patch configmap one --type=merge -p {"data":{"theirs":"3"}}');
      await shell.ok(apply, configMap('one', { a: '1' }));
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '1', theirs: '3' });
    });

    test('refuses what another manager applied differently, naming manager and field', async () => {
      await using shell = await open();
      await shell.ok(`${apply} --field-manager=ann`, configMap('one', { a: '1', b: '2', c: '3' }));
      const refused = await shell.run(apply, configMap('one', { a: '9' }));
      assert.equal(refused.code, 1, refused.stdout);
      assert.match(refused.stderr, /^error: Apply failed with 1 conflict: conflict with "ann": \.data\.a\n/);
      assert.match(refused.stderr, /--force-conflicts/);
      const both = await shell.fails(apply, configMap('one', { a: '9', b: '9', c: '3' }));
      assert.match(
        both,
        /^error: Apply failed with 2 conflicts: conflicts with "ann":\n- \.data\.a\n- \.data\.b\n/,
      );
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '1', b: '2', c: '3' });
    });

    test('--force-conflicts takes fields over; what is alike is shared', async () => {
      await using shell = await open();
      await shell.ok(`${apply} --field-manager=ann`, configMap('one', { a: '1', b: '2' }));
      await shell.ok(`${apply} --force-conflicts`, configMap('one', { a: '9', b: '2' }));
      const again = await shell.fails(`${apply} --field-manager=ann`, configMap('one', { a: '1', b: '2' }));
      assert.match(again, /conflict with "kubectl": \.data\.a/);
      // b is still applied by the other one
      await shell.ok(apply, configMap('one', { a: '9' }));
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '9', b: '2' });
      assert.deepEqual(await managers(shell, 'configmap one'), ['ann Apply', 'kubectl Apply']);
    });

    test('refuses what an update wrote, naming who made it', async () => {
      await using shell = await open();
      await shell.ok('create -f -', configMap('one', { a: '1' }));
      const refused = await shell.fails(apply, configMap('one', { a: '2' }));
      assert.match(refused, /1 conflict: conflict with "kubectl-create" using v1: \.data\.a\n/);
    });

    test('merges lists by their keys', async () => {
      await using shell = await open();
      const robot = (...names: string[]) => ({
        ...serviceAccount('robot'),
        secrets: names.map((name) => ({ name })),
      });
      await shell.ok(apply, robot('a', 'b'));
      await shell.ok(`${apply} --field-manager=ann`, robot('c', 'a'));
      await shell.ok(apply, robot('b'));
      const found = await shell.ok('get serviceaccount robot -o jsonpath={.secrets[*].name}');
      assert.deepEqual(found.split(' ').sort(), ['a', 'b', 'c']);
    });

    test('takes every kind, twice', async () => {
      await using shell = await open();
      const objects = (await oneOfEachKind(shell)).map((each) => labelled(each, { seen: 'yes' }));
      const said = linesOf(await shell.ok(apply, listOf(objects)));
      assert.equal(said.filter((line) => line.endsWith(' serverside-applied')).length, objects.length);
      const others = objects.filter(({ kind }) => kind !== 'Secret');
      const versions = () =>
        shell.ok('get cm,sa,po,lease,role,rolebinding,ev -o jsonpath={.items[*].metadata.resourceVersion}');
      const before = await versions();
      await shell.ok(apply, listOf(others));
      assert.equal(await versions(), before);
      await shell.ok(`delete ${clusterKinds} ${shell.namespace}`);
    });

    test('--dry-run=server and an object of one’s own that is refused change nothing', async () => {
      await using shell = await open();
      const dry = `${apply} --dry-run=server`;
      const said = await shell.ok(dry, configMap('one', { a: '1' }));
      assert.equal(said, 'configmap/one serverside-applied (server dry run)\n');
      assert.equal(await shell.ok('get configmap one --ignore-not-found'), '');
      const misspelt = { ...configMap('one'), dataa: { a: '1' } };
      assert.match(await shell.fails(apply, misspelt), /dataa/);
      assert.match(await shell.fails(apply, configMap('Not_A_Name')), /"Not_A_Name"/);
      assert.equal(await shell.ok('get configmap one --ignore-not-found'), '');
    });

    if (minor >= 21) {
      test('who owns what is shown when asked for', async () => {
        await using shell = await open();
        await shell.ok(apply, configMap('one', { a: '1' }));
        assert.doesNotMatch(await shell.ok('get configmap one -o yaml'), /managedFields/);
        const shown = await shell.ok('get configmap one -o yaml --show-managed-fields');
        assert.match(shown, /fieldsV1:\n +f:data:\n +f:a: {}\n +manager: kubectl\n +operation: Apply\n/);
      });
    }
  });

  describe('from apply to apply --server-side', () => {
    test('what was applied before belongs to who applies now', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', configMap('one', { a: '1', b: '2' }));
      assert.equal(await shell.ok(apply, configMap('one', { a: '5' })), applied);
      // newer ones also make the manager of before the one of now; older ones leave it its fields
      const expected = minor >= 26 ? { a: '5' } : { a: '5', b: '2' };
      assert.deepEqual(await shell.pick('configmap one', '.data'), expected);
      // the note of what was applied last is kept up, by a manager of its own
      const expectedManagers = ['kubectl Apply', 'kubectl-last-applied Apply'];
      if (minor >= 26) assert.deepEqual(await managers(shell, 'configmap one'), expectedManagers);
    });

    test('and back', async () => {
      await using shell = await open();
      await shell.ok('apply -f -', configMap('one', { a: '1', b: '2' }));
      await shell.ok(apply, configMap('one', { a: '5', b: '2' }));
      assert.equal(await shell.ok('apply -f -', configMap('one', { a: '6' })), 'configmap/one configured\n');
      assert.deepEqual(await shell.pick('configmap one', '.data'), { a: '6' });
    });
  });
}
