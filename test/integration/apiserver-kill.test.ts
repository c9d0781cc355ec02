/**
 * A control plane that is killed under load keeps what it has acknowledged, never uses a version twice, and lets watches
 * go on over its kills without a gap.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { leaseKind } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { freePort, temporaryFolder, waitFor } from '../support/index.ts';
import { repetitions, seededRandom } from '../support/repetition.ts';
import { ensureBuilt } from './installation.ts';
import type { LeaseRecord } from './nodeward/index.ts';
import { compare, LeaseWatcher, startApiServer, writeUntilGone } from './nodeward/index.ts';

/** Each takes about half a second where nothing else runs; 100 for a long run. */
const kills = repetitions('NODEWARD_TEST_KILLS', 25);
const writers = 64;

before(ensureBuilt);

/** The versions that were given out, each to one write. */
function createVersions() {
  const seen = new Set<number>();
  let highest = 0;
  return {
    /** All of them. */
    seen: seen as ReadonlySet<number>,
    get highest() {
      return highest;
    },
    note(version: string | undefined): void {
      const number = Number(version);
      assert.ok(Number.isSafeInteger(number) && number > 0, `version ${version}`);
      assert.ok(!seen.has(number), `version ${number} was given out twice`);
      seen.add(number);
      highest = Math.max(highest, number);
    },
    /** Of a write whose answer did not come. */
    noteFound(version: string | undefined): void {
      if (!seen.has(Number(version))) this.note(version);
    },
  };
}

test(`kill -9 in the middle of ${writers} writers, ${kills} times: nothing is lost, and watches go on`, async (t) => {
  const random = seededRandom(t);
  await using home = await temporaryFolder('kill-');
  const rootDir = join(home.path, 'root');
  const port = await freePort();
  const records = Array.from({ length: writers }, (_, index): LeaseRecord => {
    return { name: `writer-${index}`, acknowledged: undefined, inDoubt: undefined };
  });
  const versions = createVersions();
  const [steady, rare] = [new LeaseWatcher(1), new LeaseWatcher(1)];
  let acknowledgements = 0;
  let inDoubt = 0;

  for (let kill = 0; kill <= kills; kill += 1) {
    await using server = await startApiServer(rootDir, { port });
    const options = clientOptionsOf(await readKubeconfig(server.kubeconfig));
    await using api = new ApiClient({ ...options, connections: writers });

    const floor = versions.highest;
    const { items, metadata } = await api.list(leaseKind, { namespace: 'default' });
    assert.ok(
      Number(metadata.resourceVersion) >= floor,
      `version ${metadata.resourceVersion} after ${floor}`,
    );
    assert.equal(items.length, new Set(items.map((item) => item.metadata?.name)).size);
    inDoubt += records.filter((record) => record.inDoubt !== undefined).length;
    const problems = records.map((record) =>
      compare(
        record,
        items.find((item) => item.metadata?.name === record.name),
      ),
    );
    assert.deepEqual(
      problems.filter((problem) => problem !== undefined),
      [],
      `after kill ${kill}`,
    );
    for (const item of items) versions.noteFound(item.metadata?.resourceVersion);
    if (kill === kills) {
      await catchUp([steady, rare], api, versions.highest);
      break;
    }

    // one watches all the time, the other must be told the past of several servers at once
    const watching = [steady, ...(kill % 4 === 1 ? [rare] : [])].map((watcher) => watcher.follow(api));
    const sinceStart = versions.highest;
    const writing = records.map((record) =>
      writeUntilGone(api, record, ({ resourceVersion }) => {
        acknowledgements += 1;
        if (resourceVersion === undefined) return;
        assert.ok(Number(resourceVersion) > sinceStart, `version ${resourceVersion} after ${sinceStart}`);
        versions.note(resourceVersion);
      }),
    );
    const enough = acknowledgements + writers * (1 + 3 * random());
    await waitFor('the writers to be at it', () => acknowledgements >= enough, {
      intervalMs: 1,
      timeoutMs: 60_000,
    });
    await server.process.kill9();
    await Promise.all([...writing, ...watching]);
  }
  assert.ok(inDoubt > kills, `only ${inDoubt} writes were cut off in the middle`);
  for (const watcher of [steady, rare]) {
    assert.deepEqual(watcher.problems, []);
    assert.deepEqual(
      [...versions.seen.difference(watcher.versions)],
      [],
      'every acknowledged write was sent',
    );
  }
});

/** The watchers go on for the last time and come to the end. */
async function catchUp(watchers: readonly LeaseWatcher[], api: ApiClient, highest: number): Promise<void> {
  const stop = new AbortController();
  const watching = watchers.map((watcher) => watcher.follow(api, stop.signal));
  await Promise.race([
    waitFor('the last event', () => watchers.every(({ at }) => at >= highest), { timeoutMs: 60_000 }),
    Promise.all(watching),
  ]);
  stop.abort();
  await Promise.all(watching);
}
