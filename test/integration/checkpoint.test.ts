/** Checkpoints through the whole program with a real containerd: command line and curl in, archives out. */
import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { exitCodes } from '../../src/base/index.ts';
import { runSuccessfully, startProcess, waitFor } from '../support/index.ts';
import type { Site, Workload } from './checkpoint/site.ts';
import { openSite, pathIn, runsOn, startLarge, startWorkload, untilFrozen } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import { curlArguments, nodeward } from './nodeward/index.ts';

before(ensureBuilt);

describe('checkpoints with containerd 2.1', () => {
  let site: Site;
  let workload: Workload;
  before(async () => {
    site = await openSite();
    workload = await startWorkload(site);
  });
  after(() => site?.[Symbol.asyncDispose]());

  async function assertArchive(path: string): Promise<void> {
    const { pod } = workload;
    const name = `checkpoint-${pod}_default-main-\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d[.]\\d+Z[.]tar`;
    assert.match(path, new RegExp(`^${site.rootDir}/checkpoints/${name}$`));
    assert.equal((await stat(path)).mode & 0o7777, 0o600);
    const names = (await runSuccessfully('tar', ['-tf', path])).split('\n');
    for (const part of ['checkpoint/core-1.img', 'checkpoint/pages-1.img', 'config.dump', 'spec.dump']) {
      assert.ok(names.includes(part), `${part} in ${names}`);
    }
  }

  test('nodeward checkpoint prints the path of an archive, and the workload counts on', async () => {
    const target = `default/${workload.pod}/main`;
    const { code, stdout, stderr } = await nodeward(['checkpoint', target, '--root-dir', site.rootDir]);
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    await assertArchive(stdout.trimEnd());
    await runsOn(site, workload);
  });

  test('curl with an administrator’s certificate gets the path of another one', async () => {
    const before = (await site.archives()).length;
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}/main`);
    assert.equal(code, 200, body);
    await assertArchive(pathIn(body));
    assert.equal((await site.archives()).length, before + 2);
    await runsOn(site, workload);
  });

  test('several at once, of one container too, all succeed', async () => {
    const other = await startWorkload(site);
    const asked = [workload, other, workload].map(({ pod }) => site.ask(`/checkpoint/default/${pod}/main`));
    const answers = await Promise.all(asked);
    assert.deepEqual(
      answers.map(({ code }) => code),
      [200, 200, 200],
    );
    assert.equal(new Set(answers.map(({ body }) => pathIn(body))).size, 3);
    await runsOn(site, workload);
    await other.remove();
  });

  test('what does not exist is 404, in the words of the reference', async () => {
    assert.deepEqual(await site.ask('/checkpoint/default/nobody/main'), {
      code: 404,
      body: 'pod does not exist',
    });
    assert.deepEqual(await site.ask(`/checkpoint/elsewhere/${workload.pod}/main`), {
      code: 404,
      body: 'pod does not exist',
    });
    assert.deepEqual(await site.ask(`/checkpoint/default/${workload.pod}/sidecar`), {
      code: 404,
      body: 'container sidecar does not exist',
    });
    assert.equal((await site.ask('/checkpoint/default/nobody')).code, 404);
  });

  test('only an administrator may', async () => {
    const path = `/checkpoint/default/${workload.pod}/main`;
    assert.deepEqual(await site.ask(path, { as: 'none' }), { code: 401, body: 'Unauthorized' });
    const { code, body } = await site.ask(path, { as: 'nodeward-client' });
    assert.equal(code, 403);
    const user = `system:node:${site.agent.summary.node}`;
    assert.equal(body, `Forbidden (user=${user}, verb=create, resource=nodes, subresource(s)=[checkpoint])`);
    const unauthenticated = await site.ask('/checkpoint/default/nobody/main', { as: 'none' });
    assert.equal(unauthenticated.code, 401);
  });

  test('what is asked wrongly is refused', async () => {
    const path = `/checkpoint/default/${workload.pod}/main`;
    for (const timeout of ['soon', '-1', '1.5', '99999999999999999999', '1s']) {
      const { code, body } = await site.ask(`${path}?timeout=${timeout}`);
      assert.equal(code, 400, `${timeout}: ${body}`);
      assert.match(body, /timeout/);
    }
    assert.equal((await site.ask(path, { method: 'GET' })).code, 405);
    for (const argument of ['main', 'a/', 'a/b/c/d', '//']) {
      const { code, stderr } = await nodeward(['checkpoint', argument, '--root-dir', site.rootDir]);
      assert.equal(code, exitCodes.usage, argument);
      assert.match(stderr, /NAMESPACE\/POD\/CONTAINER/);
    }
    const elsewhere = await nodeward(['checkpoint', 'a/b/c', '--root-dir', join(site.rootDir, 'nowhere')]);
    assert.equal(elsewhere.code, exitCodes.configuration);
    assert.match(elsewhere.stderr, /^nodeward: there is no kubeconfig in .*--kubeconfig\n$/);
  });

  test('one second for a container that takes longer is an error, and the workload runs on', async () => {
    const large = await startLarge(site, 1024);
    const before = await site.archives();
    const { code, body } = await site.ask(`/checkpoint/default/${large.pod}/main?timeout=1`);
    assert.equal(code, 500, body);
    const target = `default/${large.pod}/main`;
    assert.equal(body, `checkpointing of ${target} failed (timed out after 1 s)`);
    await runsOn(site, large);
    assert.deepEqual(await site.archives(), before);

    const argv = ['checkpoint', target, '--timeout', '1', '--root-dir', site.rootDir];
    const { code: exit, stderr, stdout } = await nodeward(argv);
    assert.deepEqual([exit, stdout], [exitCodes.failed, '']);
    assert.match(stderr, /^nodeward: the agent at \S+ answered 500: .* \(timed out after 1 s\)\n$/);
    await runsOn(site, large);
    await large.remove();
  });

  test('a client that hangs up in the middle leaves a workload that runs on, and no archive', async () => {
    const large = await startLarge(site, 256);
    const before = await site.archives();
    const clients = [
      () => startProcess('curl', [...curlArguments(site.pki, 'admin'), '-X', 'POST', site.url(large.pod)]),
      () => startProcess('curl', [...curlArguments(site.pki, 'admin'), '-X', 'POST', site.url(large.pod)]),
    ];
    for (const start of clients) {
      await using client = await start();
      await untilFrozen(large);
      await client.kill9();
      await runsOn(site, large);
      const tidy = async () => (await site.archives()).length === before.length;
      await waitFor('nothing to be left', tidy);
    }
    assert.deepEqual(await site.archives(), before);
    await large.remove();
  });

  test('Ctrl-C in the middle of a dump ends the agent in time, and the workload runs on', async () => {
    const large = await startLarge(site, 256);
    const before = await site.archives();
    const asked = site.ask(`/checkpoint/default/${large.pod}/main`).catch(() => undefined);
    await untilFrozen(large);
    const { code, tookMs } = await site.agent.interrupt();
    await asked;
    assert.equal(code, 0, site.agent.process.stderr);
    assert.ok(tookMs < 10_000, `it took ${tookMs} ms`); // systemd waits 30 s
    await runsOn(site, large);
    await site.startAgain();
    await waitFor('nothing to be left', async () => (await site.archives()).length === before.length);
    await large.remove();
  });

  for (const laterMs of [0, 150]) {
    test(`kill -9 of the agent ${laterMs} ms into a dump: its next start puts all right`, async () => {
      const large = await startLarge(site, 256);
      const before = await site.archives();
      const asked = site.ask(`/checkpoint/default/${large.pod}/main`).catch(() => undefined);
      await untilFrozen(large);
      await sleep(laterMs);
      await site.agent.process.kill9();
      await asked;
      await site.startAgain();
      const tidy = async () => (await site.archives()).length === before.length;
      await waitFor('nothing to be left', tidy, { timeoutMs: 30_000 });
      await runsOn(site, large);
      assert.deepEqual(await site.archives(), before);
      const { code, body } = await site.ask(`/checkpoint/default/${large.pod}/main`);
      assert.equal(code, 200, body);
      await runsOn(site, large);
      await large.remove();
    });
  }

  test('a runtime that is stopped is 500, and works again when it is back', async () => {
    await site.runtime.stop();
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}/main`);
    assert.equal(code, 500);
    assert.match(body, /the container runtime is not available/);
    await site.runtime.restart();
    const again = async () => (await site.ask(`/checkpoint/default/${workload.pod}/main`)).code === 200;
    await waitFor('a checkpoint', again, { timeoutMs: 30_000, intervalMs: 200 });
    await runsOn(site, workload);
  });

  test('the log tells who asked for what, and shows no secret', async () => {
    await site.ask('/checkpoint/default/nobody/main');
    await site.agent.process.waitForOutput(/"requester":"kubernetes-admin"/);
    const log = site.agent.process.stderr;
    assert.doesNotMatch(log, /PRIVATE KEY/);
    const key = await readFile(join(site.pki, 'admin.key'), 'utf8');
    assert.ok(!log.includes(key.split('\n')[1] ?? key));
  });
});

describe('checkpoints with containerd 1.6', () => {
  test('are 500, saying that the runtime cannot, and the workload counts on', async () => {
    await using site = await openSite({ version: '1.6' });
    const workload = await startWorkload(site);
    const { code, body } = await site.ask(`/checkpoint/default/${workload.pod}/main`);
    assert.equal(code, 500);
    const why = 'the container runtime cannot checkpoint: method CheckpointContainer not implemented';
    assert.equal(body, `checkpointing of default/${workload.pod}/main failed (${why})`);
    await runsOn(site, workload);
    assert.deepEqual(await site.archives(), []);
  });
});
