/** `nodeward storage migrate` with the built program and a real etcd: there and back, and what may go wrong between. */
import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { leaseKind } from '../../src/api/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LabEtcd } from './lab/etcd.ts';
import { startEtcd } from './lab/etcd.ts';
import { MigratedEtcd, migrate, migrated, startMigration } from './migrating/command.ts';
import {
  assertHeld,
  clientOf,
  countLeases,
  goesOnFrom,
  namesOfLeases,
  namespace,
  refusalOfWrite,
  storeLeases,
  writeLeases,
} from './migrating/objects.ts';
import { nodeward, startApiServer } from './nodeward/index.ts';

/** As codes of the command: docs/errors.md. */
const exit = { failed: 1, usage: 2, configuration: 3, unwritable: 6 };

/** A store takes seconds to move, so that something can happen meanwhile. */
const large = 20_000;
/** By itself a hold ends within half a minute. */
const holdEnds = { timeoutMs: 60_000 };

let etcd: LabEtcd;
before(async () => {
  await ensureBuilt();
  etcd = await startEtcd();
});
after(() => etcd[Symbol.asyncDispose]());

// two at once: one of them waits twice for a hold to end
describe('nodeward storage migrate', { timeout: 600_000, concurrency: 2 }, () => {
  test('there and back, while servers run', async () => {
    await using home = await temporaryFolder('migrate-');
    const place = new MigratedEtcd(etcd);
    const rootOf = (name: string) => join(home.path, name);
    await using old = await startApiServer(rootOf('a'));
    const written = await writeLeases(old.kubeconfig, 300);
    const moved = await migrated(place.from(rootOf('a')));
    assert.ok(moved.objects > 300 && moved.revision > written + 999_999_999, JSON.stringify(moved));
    assert.equal(await countLeases(old.kubeconfig), 300, 'the old server still reads');
    assertHeld(
      await refusalOfWrite(old.kubeconfig, 'refused'),
      /being moved to etcd:http.*nothing was changed/,
    );

    await using now = await startApiServer(rootOf('b'), { args: place.args });
    await goesOnFrom(now.kubeconfig, moved.revision, written, 'object-7');
    await old.process.stop();
    const again = await nodeward(['apiserver', '--root-dir', rootOf('a'), '--secure-port', '0']);
    assert.equal(again.code, exit.configuration, again.stderr);
    assert.match(
      again.stderr,
      /were moved to etcd:http.* at 20.*: start the server there; .* remove .*store\.moved/,
    );

    const newest = await writeLeases(now.kubeconfig, 5, 'later');
    const back = await migrated(place.to(rootOf('c')));
    assert.ok(back.revision > newest + 999_999_999 && back.objects >= moved.objects + 5);
    assert.equal(await countLeases(now.kubeconfig), 305);
    assertHeld(await refusalOfWrite(now.kubeconfig, 'refused'), /moved to sqlite:/);
    await now.process.stop();
    const onOld = await nodeward([
      'apiserver',
      '--root-dir',
      rootOf('b'),
      '--secure-port',
      '0',
      ...place.args,
    ]);
    assert.equal(onOld.code, exit.configuration, onOld.stderr);
    assert.match(onOld.stderr, /were moved to sqlite:.*delete the key \/migrated-.*\/nodeward\/read-only/);
    await using last = await startApiServer(rootOf('c'));
    await goesOnFrom(last.kubeconfig, back.revision, newest, 'object-8');
    assert.deepEqual(await remains(rootOf('c')), []);
  });

  test('killed in the middle: writers go on at the source, no server starts on the target, and it is done again', async () => {
    await using home = await temporaryFolder('migrate-');
    const place = new MigratedEtcd(etcd);
    const rootOf = (name: string) => join(home.path, name);
    await storeLeases(rootOf('a'), large);
    await using old = await startApiServer(rootOf('a'));
    await using api = await clientOf(old.kubeconfig);
    const seen: string[] = [];
    using stop = new DisposableStack();
    const end = new AbortController();
    stop.defer(() => end.abort());
    const watching = (async () => {
      const { metadata } = await api.list(leaseKind, { namespace, limit: 1 });
      const { resourceVersion = '' } = metadata;
      for await (const event of api.watch(leaseKind, { namespace, resourceVersion, signal: end.signal })) {
        if ('object' in event) seen.push(event.object.metadata?.name ?? '');
      }
    })();
    await killedWhileHeld(place.from(rootOf('a')), old.kubeconfig);
    assert.equal(await refusedStart(rootOf('b'), place.args), exit.configuration);
    await waitFor('writers to go on', async () => !(await refusalOfWrite(old.kubeconfig, 'after')), holdEnds);
    await waitFor('the watch to tell', () => seen.includes('after'));
    const { objects, revision } = await migrated(place.from(rootOf('a')));
    assert.ok(objects > large);
    end.abort();
    await watching;
    await old.process.stop();

    await using now = await startApiServer(rootOf('b'), { args: place.args });
    await goesOnFrom(now.kubeconfig, revision, large, 'object-19999');
    await killedWhileHeld(place.to(rootOf('c')), now.kubeconfig);
    assert.equal(await refusedStart(rootOf('c'), []), exit.configuration);
    await waitFor(
      'writers to go on',
      async () => !(await refusalOfWrite(now.kubeconfig, 'once-more')),
      holdEnds,
    );
    const back = await migrated(place.to(rootOf('c')));
    assert.ok(back.objects >= objects && back.revision > revision + 999_999_999);
    await now.process.stop();
    await using last = await startApiServer(rootOf('c'));
    const names = await namesOfLeases(last.kubeconfig);
    const others = names.filter((name) => !/^(object|try)-\d+$/.test(name)).sort();
    assert.deepEqual(others, ['after', `new-${revision}`, 'once-more']);
    assert.equal(names.filter((name) => name.startsWith('object-')).length, large - 1);
    assert.deepEqual(await remains(rootOf('c')), []);
  });

  test('what is there already is not replaced, and flags must go together', async () => {
    await using home = await temporaryFolder('migrate-');
    const place = new MigratedEtcd(etcd);
    const root = join(home.path, 'a');
    await storeLeases(root, 10);
    await migrated(place.from(root));
    await storeLeasesElsewhere(join(home.path, 'b'));
    const occupied = await migrate(place.from(join(home.path, 'b')));
    assert.equal(occupied.code, exit.failed, occupied.stderr);
    assert.match(
      occupied.stderr,
      /holds objects already, such as \/registry\/leases\/default\/object-0, and they are not replaced/,
    );
    const folder = await migrate(place.to(join(home.path, 'b')));
    assert.equal(folder.code, exit.failed, folder.stderr);
    assert.match(folder.stderr, /there is a store with objects in .*b\/storage, and it is not replaced/);
    const elsewhere = await migrate(new MigratedEtcd(etcd).from(root));
    assert.equal(elsewhere.code, exit.configuration, elsewhere.stderr);
    assert.match(elsewhere.stderr, /were moved to etcd:.*remove .*store\.moved/);
    const file = join(home.path, 'snapshot');
    for (const argv of [
      ['snapshot', file],
      ['restore', file, '--force'],
    ]) {
      const { code, stderr } = await nodeward(['storage', ...argv, '--root-dir', root]);
      assert.equal(code, 0, stderr);
    }
    await (await startApiServer(root)).process.stop(); // what was restored there goes on there
    const nothing = await migrate(new MigratedEtcd(etcd).to(join(home.path, 'c')));
    assert.equal(nothing.code, exit.unwritable, nothing.stderr);
    assert.match(nothing.stderr, /there is no store in etcd:/);
    for (const [from, to] of [
      ['sqlite:/a', 'sqlite:/b'],
      ['etcd:http://a:1', 'etcd:http://a:2'],
      ['file:/a', 'sqlite:/b'],
    ]) {
      const { code } = await nodeward(['storage', 'migrate', '--from', `${from}`, '--to', `${to}`]);
      assert.equal(code, exit.usage, `${from} ${to}`);
    }
  });

  test('cut off when the source was sealed and the target not yet opened: done again, it comes to its end', async () => {
    await using home = await temporaryFolder('migrate-');
    const place = new MigratedEtcd(etcd);
    const root = join(home.path, 'a');
    await storeLeases(root, 10);
    const mark = { place: `${place.place} (${place.prefix})`, at: '2026-01-01T00:00:00.000Z' };
    await writeFile(join(root, 'storage/store.moved'), JSON.stringify(mark));
    assert.equal((await migrated(place.from(root))).objects, 10);
    await using now = await startApiServer(join(home.path, 'b'), { args: place.args });
    assert.equal(await countLeases(now.kubeconfig), 10);
  });

  test('a damaged source is told, and stays as it was', async () => {
    await using home = await temporaryFolder('migrate-');
    const place = new MigratedEtcd(etcd);
    const root = join(home.path, 'a');
    await storeLeases(root, 50);
    const database = join(root, 'storage/store.sqlite');
    const bytes = await readFile(database);
    bytes.write('HOLDER', bytes.indexOf('holder-37'));
    await writeFile(database, bytes);
    const { code, stderr } = await migrate(place.from(root));
    assert.equal(code, exit.configuration, stderr);
    assert.match(stderr, /object-37 at revision \d+ is not what was written/);
    assert.deepEqual(await readFile(database), bytes);
    assert.deepEqual(await remains(root), []);
    assert.equal(await refusedStart(join(home.path, 'b'), place.args), exit.configuration);
  });

  test('two at once do not mix: at most one comes to its end, and then all is there', async () => {
    await using home = await temporaryFolder('migrate-');
    const place = new MigratedEtcd(etcd);
    const root = join(home.path, 'a');
    await storeLeases(root, 2_000);
    await using old = await startApiServer(root);
    const codes = (await Promise.all([migrate(place.from(root)), migrate(place.from(root))])).map(
      ({ code }) => code,
    );
    assert.ok(codes.filter((code) => code === 0).length <= 1, JSON.stringify(codes));
    if (!codes.includes(0)) {
      const again = async () => (await migrate(place.from(root))).code === 0;
      await waitFor('one that is alone to succeed', again, { timeoutMs: 90_000 });
    }
    await old.process.stop();
    await using now = await startApiServer(join(home.path, 'b'), { args: place.args });
    assert.equal(await countLeases(now.kubeconfig), 2_000);
  });

  test('with a client certificate, and another prefix', async () => {
    await using home = await temporaryFolder('migrate-');
    await using secure = await startEtcd({ tls: true });
    const place = new MigratedEtcd(secure);
    const { caFile, certFile, keyFile } = given(secure.certificates);
    const files = ['--etcd-cafile', caFile, '--etcd-certfile', certFile, '--etcd-keyfile', keyFile];
    await storeLeases(join(home.path, 'a'), 300);
    const without = await migrate([...place.from(join(home.path, 'a')), '--etcd-cafile', caFile]);
    assert.equal(without.code, exit.failed, without.stderr);
    const { objects } = await migrated([...place.from(join(home.path, 'a')), ...files]);
    assert.equal(objects, 300);
    const back = await migrated([...place.to(join(home.path, 'b')), ...files]);
    assert.equal(back.objects, 300);
  });

  test('an etcd that is full is told', async () => {
    await using home = await temporaryFolder('migrate-');
    await using small = await startEtcd({ argv: ['--quota-backend-bytes', String(2 * 1024 * 1024)] });
    const place = new MigratedEtcd(small);
    const root = join(home.path, 'a');
    await storeLeases(root, 500, 10_000);
    const { code, stderr } = await migrate(place.from(root));
    assert.equal(code, exit.unwritable, stderr);
    assert.match(stderr, /database space exceeded; make room in etcd .* and migrate again\n$/);
    assert.deepEqual(await remains(root), [], 'the source is as it was');
  });
});

async function storeLeasesElsewhere(root: string): Promise<void> {
  await storeLeases(root, 5);
}

/** Kills it with SIGKILL as soon as writers are held; meanwhile there are reads. */
async function killedWhileHeld(argv: readonly string[], kubeconfig: string): Promise<void> {
  await using running = await startMigration(argv);
  let tries = 0;
  await waitFor(
    'writers to be held',
    async () => {
      if (running.exit !== undefined) throw new Error(`it ended before: ${running.stderr}`);
      const refusal = await refusalOfWrite(kubeconfig, `try-${tries++}`);
      if (refusal !== undefined) assertHeld(refusal, /being moved to (etcd|sqlite):/);
      return refusal !== undefined;
    },
    { timeoutMs: 120_000 },
  );
  assert.ok((await countLeases(kubeconfig)) >= large, 'it reads');
  await running.kill9();
}

/** The exit code of a server that is not to serve there. */
async function refusedStart(root: string, args: readonly string[]): Promise<number | null> {
  const { code, stderr } = await nodeward(['apiserver', '--root-dir', root, '--secure-port', '0', ...args]);
  assert.match(
    stderr,
    /is not complete: a migration from (etcd|sqlite):.*, begun at 20.*, has not ended; run it again\n$/,
  );
  return code;
}

/** What a migration leaves in a folder while it is not done, or when it was moved. */
async function remains(root: string): Promise<readonly string[]> {
  const names = await readdir(join(root, 'storage'));
  return names.filter((name) => /restoring|incomplete|moved|tmp/.test(name));
}

function given<T>(value: T | undefined): T {
  assert.ok(value !== undefined);
  return value;
}
