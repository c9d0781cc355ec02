/** Requests to an agent through the control plane, with the real program, containerd and kubectl. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TemporaryFolder } from '../support/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import type { Site, Workload } from './checkpoint/site.ts';
import { openSite, startWorkload } from './checkpoint/site.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl } from './lab/index.ts';
import { kubectl } from './lab/index.ts';
import { nodeward } from './nodeward/index.ts';

before(ensureBuilt);

describe('a node through the control plane', () => {
  let home: TemporaryFolder;
  let site: Site;
  let workload: Workload;
  let tool: Kubectl;
  let node: string;

  before(async () => {
    home = await temporaryFolder('node-proxy-');
    site = await openSite();
    workload = await startWorkload(site);
    tool = kubectl(join(site.rootDir, 'admin.kubeconfig'), home.path);
    node = site.agent.summary.node;
    // the agent is ready before it has reached anybody
    const { run } = tool;
    await waitFor('the Node', async () => (await run(['get', 'node', node])).code === 0);
  });
  after(async () => {
    await site?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  const raw = async (path: string): Promise<string> => {
    const { code, stdout, stderr } = await tool.run(['get', '--raw', `/api/v1/nodes/${node}/proxy${path}`]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const through = async (...argv: string[]): Promise<string> => {
    const kubeconfig = ['--kubeconfig', join(site.rootDir, 'admin.kubeconfig'), '--node', node];
    const { code, stdout, stderr } = await nodeward(['checkpoint', ...argv, ...kubeconfig]);
    assert.equal(code, 0, stderr);
    return stdout.trimEnd();
  };

  test('kubectl reads its health, metrics and configuration', async () => {
    assert.equal(await raw('/healthz'), 'ok');
    assert.match(await raw('/metrics'), /^# HELP /m);
    assert.ok(JSON.parse(await raw('/configz')).kubeletconfig);
  });

  test('a checkpoint is made, listed and fetched, and its record tells who asked', async () => {
    const path = await through(`default/${workload.pod}/main`);
    assert.match(path, new RegExp(`^${site.rootDir}/checkpoints/checkpoint-${workload.pod}_default-main-`));
    await workload.container.countsOn();
    const record = JSON.parse(await readFile(path.replace(/\.tar$/, '.json'), 'utf8'));
    assert.equal(record.requester, 'kubernetes-admin');

    const { items } = JSON.parse(await through('ls', '-o', 'json'));
    assert.deepEqual(
      items.map(({ id }: { id: string }) => id),
      [record.id],
    );

    const copy = join(home.path, 'copy.tar');
    await through('download', record.id, '--to', copy);
    assert.equal((await stat(copy)).size, record.sizeBytes);
    assert.equal(
      createHash('sha256')
        .update(await readFile(copy))
        .digest('hex'),
      record.sha256,
    );
  });

  test('who may not use the proxy gets nowhere', async () => {
    const { code, stderr } = await tool.run([
      ...['get', '--raw', `/api/v1/nodes/${node}/proxy/healthz`],
      ...['--as', 'alice'],
    ]);
    assert.notEqual(code, 0);
    assert.match(stderr, /User "alice" cannot get resource "nodes\/proxy"/);
  });

  test('an agent that is gone is told as such', async () => {
    const wrong = await nodeward([
      ...['checkpoint', 'ls', '--node', 'nobody'],
      ...['--kubeconfig', join(site.rootDir, 'admin.kubeconfig')],
    ]);
    assert.notEqual(wrong.code, 0);
    assert.equal(wrong.stderr, 'nodeward: nodes "nobody" not found\n');
  });
});
