/** Many checkpoints at once, and what is refused of them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../support/index.ts';
import type { Site } from './checkpoint/site.ts';
import { openSite, pathIn, runsOn, startLarge, startWorkload, untilFrozen } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import { nodeward } from './nodeward/index.ts';

before(ensureBuilt);

describe('many checkpoints at once', () => {
  let site: Site;
  before(async () => {
    site = await openSite({ config: 'checkpoint: {maxConcurrent: 5}\n' });
  });
  after(() => site?.[Symbol.asyncDispose]());

  test('50 of 5 containers are all made, and every workload runs on', async () => {
    const workloads = await Promise.all(Array.from({ length: 5 }, () => startWorkload(site)));
    const asked = Array.from({ length: 10 }, () => workloads).flat();
    const answers = await Promise.all(asked.map(({ pod }) => site.ask(`/checkpoint/default/${pod}/main`)));
    for (const { code, body } of answers) assert.equal(code, 200, body);
    assert.equal(new Set(answers.map(({ body }) => pathIn(body))).size, 50);
    assert.equal((await site.archives()).length, 100);
    assert.equal(await site.metric('nodeward_checkpoint_requests_total{result="made"}'), 50);
    assert.equal(await site.metric('nodeward_checkpoint_requests_under_way'), 0);
    for (const workload of workloads) await runsOn(site, workload);
  });

  test('are refused where it is configured so, from the next reload on', async () => {
    const [large, other] = [await startLarge(site, 256), await startWorkload(site)];
    const of = ({ pod }: { pod: string }) => `/checkpoint/default/${pod}/main`;
    await site.configure('checkpoint: {maxConcurrent: 1, maxWaiting: 1, onConflict: Refuse}\n');
    const reloaded = await nodeward(['reload', '--root-dir', site.rootDir]);
    assert.equal(reloaded.code, 0, reloaded.stderr);
    assert.match(reloaded.stdout + reloaded.stderr, /checkpoint/);
    const first = site.ask(of(large));
    await untilFrozen(large);
    assert.deepEqual(await site.ask(of(large)), {
      code: 409,
      body: `checkpointing of default/${large.pod}/main failed (another checkpoint of it is under way, try again when it has ended)`,
    });
    const waits = site.ask(of(other));
    const isFull = async () => (await site.metric('nodeward_checkpoint_requests_under_way')) === 2;
    await waitFor('the other one to wait', isFull, { intervalMs: 5 });
    const third = await site.ask('/checkpoint/default/nobody/main');
    assert.equal(third.code, 500);
    assert.match(third.body, /2 checkpoints are under way or wait already, try again later/);
    assert.deepEqual([(await first).code, (await waits).code], [200, 200]);
    await runsOn(site, large);
    await runsOn(site, other);
  });
});
