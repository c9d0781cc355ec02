/** A control plane that is killed under load keeps what it has acknowledged, and never uses a version twice. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { leaseKind } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import { freePort, temporaryFolder } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LeaseRecord } from './nodeward/index.ts';
import { compare, startApiServer, writeUntilGone } from './nodeward/index.ts';

const kills = 20;
const writers = 64;

before(ensureBuilt);

/** The versions that were given out, each to one write. */
function createVersions() {
  const seen = new Set<number>();
  let highest = 0;
  return {
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

test(`kill -9 in the middle of ${writers} writers, ${kills} times: nothing that was acknowledged is lost`, async () => {
  await using home = await temporaryFolder('kill-');
  const rootDir = join(home.path, 'root');
  const port = await freePort();
  const records = Array.from({ length: writers }, (_, index): LeaseRecord => {
    return { name: `writer-${index}`, acknowledged: undefined, inDoubt: undefined };
  });
  const versions = createVersions();
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
    if (kill === kills) break;

    const sinceStart = versions.highest;
    const writing = records.map((record) =>
      writeUntilGone(api, record, ({ resourceVersion }) => {
        acknowledgements += 1;
        if (resourceVersion === undefined) return;
        assert.ok(Number(resourceVersion) > sinceStart, `version ${resourceVersion} after ${sinceStart}`);
        versions.note(resourceVersion);
      }),
    );
    await sleep(100 + Math.random() * 400);
    await server.process.kill9();
    await Promise.all(writing);
  }
  assert.ok(acknowledgements > kills * writers, `only ${acknowledgements} writes`);
  assert.ok(inDoubt > kills, `only ${inDoubt} writes were cut off in the middle`);
});
