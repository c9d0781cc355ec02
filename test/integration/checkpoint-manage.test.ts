/** What becomes of checkpoints once they are made, with a real runtime and the real program. */
import assert from 'node:assert/strict';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { startProcess, waitFor } from '../support/index.ts';
import type { Site } from './checkpoint/site.ts';
import { openSite, runsOn, startLarge, startWorkload } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import { nodeward, program } from './nodeward/index.ts';

before(ensureBuilt);

const mebibyte = 1024 * 1024;

interface Listed {
  id: string;
  path: string;
  bytes: number;
  state: string;
  pinned: boolean;
  record: { pod: string; sha256: string };
}

/** `nodeward checkpoint …` with the site's own credentials; what it printed. */
async function run(site: Site, args: readonly string[], code = 0): Promise<string> {
  const ended = await nodeward(['checkpoint', ...args, '--root-dir', site.rootDir]);
  assert.equal(ended.code, code, ended.stderr);
  return ended.stdout;
}

async function list(site: Site): Promise<Listed[]> {
  const { code, body } = await site.ask('/checkpoints', { method: 'GET' });
  assert.equal(code, 200, body);
  return JSON.parse(body).items;
}

/** Kills a download when a part of the file is there; answers how much that is. */
async function breakOff(site: Site, id: string, to: string): Promise<number> {
  const [node, script] = program;
  const args = ['checkpoint', 'download', id, '--to', to, '--root-dir', site.rootDir];
  await using child = await startProcess(node, [script, ...args]);
  const partSize = async (): Promise<number> => {
    const name = (await readdir(site.rootDir)).find((each) => each.endsWith('.part'));
    return name === undefined ? 0 : (await stat(join(site.rootDir, name))).size;
  };
  await waitFor('a part to be there', async () => (await partSize()) > mebibyte, { intervalMs: 2 });
  await child.kill9();
  return await partSize();
}

describe('checkpoints that were made', () => {
  test('are listed, fetched in two parts, pinned, pruned, verified and removed', async () => {
    await using site = await openSite();
    const [large, small] = [await startLarge(site, 128), await startWorkload(site)];
    const of = ({ pod }: { pod: string }) => `default/${pod}/main`;
    const first = (await run(site, [of(large)])).trim();
    const waited = (await run(site, [of(small), '--async', '--wait'])).trim();
    await run(site, ['create', of(small)]);

    const all = await list(site);
    assert.equal(all.length, 3);
    assert.deepEqual(
      all.slice(1).map(({ path }) => path),
      [waited, first],
    );
    const table = await run(site, ['ls', '-n', 'default', '--pod', small.pod]);
    assert.equal(table.trimEnd().split('\n').length, 3, table);
    const [newest, middle, oldest] = all;
    assert.ok(newest && middle && oldest);

    const to = join(site.rootDir, 'copy.tar');
    const broken = await breakOff(site, oldest.id, to);
    assert.ok(broken < oldest.bytes, 'it was broken off in the middle');
    assert.equal((await run(site, ['download', oldest.id, '--to', to])).trim(), to);
    assert.ok((await readFile(to)).equals(await readFile(first)));
    assert.equal((await stat(to)).mode & 0o777, 0o600);
    await site.agent.process.waitForOutput(/"action":"download".*"code":206/);

    await run(site, ['pin', middle.id, '--reason', 'kept']);
    await site.configure('checkpoint: {retention: {node: {maxCount: 2}}}\n');
    assert.equal((await nodeward(['reload', '--root-dir', site.rootDir])).code, 0);
    assert.match(await run(site, ['prune', '--dry-run']), new RegExp(`node\\.maxCount +${oldest.id}`));
    assert.equal((await list(site)).length, 3);
    const latest = (await run(site, [of(small)])).trim();
    await waitFor('the old ones to go', async () => (await site.archives()).length === 4);
    assert.deepEqual(
      (await list(site)).map(({ path }) => path),
      [latest, middle.path],
    );
    const removals = 'nodeward_checkpoint_retention_removals_total{scope="node",limit="maxCount"}';
    await waitFor('both to be counted', async () => (await site.metric(removals)) === 2);

    assert.match(await run(site, ['verify', middle.id]), /matches/);
    await flipByte(middle.path);
    assert.match(await run(site, ['verify', middle.id], 1), /damaged: its SHA-256 is /);
    assert.deepEqual(
      (await list(site)).map(({ state }) => state),
      ['Unverified', 'Damaged'],
    );
    assert.equal(await site.metric('nodeward_checkpoint_archives{state="Damaged"}'), 1);

    await run(site, ['rm', middle.id], 1);
    await run(site, ['rm', '--force', middle.id]);
    assert.deepEqual(
      (await list(site)).map(({ path }) => path),
      [latest],
    );
    await runsOn(site, large);
    await runsOn(site, small);
  });
});

async function flipByte(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  const byte = Buffer.alloc(1);
  await file.read(byte, 0, 1, 1000);
  await file.write(Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, 1000);
}
