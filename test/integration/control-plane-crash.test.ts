/** An agent whose control plane dies, hangs or is left behind: it goes on and brings it back. */
// lane: waiting (half a minute, until a control plane that hangs is given up)
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Lease } from '../../src/api/index.ts';
import { leaseKind, nodeKind } from '../../src/api/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../src/client/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { findProcess, freePort, isAlive, sendSignal, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { RunningAgent } from './nodeward/index.ts';
import { controlPlaneOf, curl, processesNaming, startAgent } from './nodeward/index.ts';

/** A heartbeat every second, so that none is waited for long. */
const configuration = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeLeaseDurationSeconds: 4
`;

before(ensureBuilt);

describe('a control plane that fails', () => {
  let home: TemporaryFolder;
  let rootDir: string;
  let args: string[];
  let agent: RunningAgent;

  before(async () => {
    home = await temporaryFolder('crash-');
    rootDir = join(home.path, 'root');
    // the same ports at every start: one that is still held would be seen
    const [port, securePort] = [await freePort(), await freePort()];
    const endpoint = `unix://${home.path}/nowhere.sock`;
    const config = join(home.path, 'config.yaml');
    await writeFile(config, configuration);
    args = [
      ...['--config', config, '--container-runtime-endpoint', endpoint],
      ...['--port', `${port}`, '--secure-port', `${securePort}`],
    ];
    agent = await startAgent({ rootDir, args });
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  async function client(): Promise<ApiClient> {
    return new ApiClient(clientOptionsOf(await readKubeconfig(join(rootDir, 'admin.kubeconfig'))));
  }

  /** Of a server that may hang, it is to be asked again soon. */
  async function lease(timeoutMs = 20_000): Promise<Lease> {
    await using api = await client();
    return await api.get(leaseKind, agent.summary.node, { namespace: 'kube-node-lease', timeoutMs });
  }
  const renewed = async (): Promise<number> => Date.parse((await lease(2000)).spec?.renewTime ?? '');

  /** Waits for a heartbeat that is later than now, or than that. */
  async function heartbeat(sinceMs = Date.now()): Promise<void> {
    const later = async () => (await renewed()) > sinceMs;
    await waitFor('a heartbeat', later, { timeoutMs: 25_000, intervalMs: 100 });
  }

  async function nodeUid(): Promise<string | undefined> {
    await using api = await client();
    return (await api.get(nodeKind, agent.summary.node)).metadata?.uid;
  }

  const child = () => waitFor('a control plane', () => controlPlaneOf(agent.pid), { timeoutMs: 30_000 });
  /** The control plane that is not that one. */
  const another = (before: number) =>
    waitFor('another control plane', async () => {
      const pid = await controlPlaneOf(agent.pid);
      return pid !== before && pid;
    });

  async function agentAnswers(): Promise<void> {
    const port = new URL(agent.summary.agent).port;
    const url = `https://127.0.0.1:${port}/healthz`;
    const answer = await curl(join(rootDir, 'pki'), url, { method: 'GET', timeoutMs: 3000 });
    assert.deepEqual(answer, { code: 200, body: 'ok' });
  }

  test('kill -9 of it: the agent goes on, brings it back with all its state, and heartbeats continue', async () => {
    await heartbeat();
    const uid = await waitFor('the node', nodeUid); // heartbeats do not wait for its registration
    const { metadata } = await lease();
    const certificate = () => readFile(join(rootDir, 'pki/nodeward-client.crt'), 'utf8');
    const certificateBefore = await certificate();
    for (let round = 1; round <= 3; round += 1) {
      const killed = await child();
      sendSignal(killed, 'SIGKILL');
      await agentAnswers();
      const next = await another(killed);
      assert.equal(await isAlive(killed), false);
      await waitFor('it to serve', () => lease(2000));
      assert.ok(await isAlive(next));
    }
    await heartbeat();
    assert.equal(agent.process.exit, undefined);
    assert.equal(await nodeUid(), uid);
    assert.equal((await lease()).metadata?.uid, metadata?.uid);
    assert.equal(await certificate(), certificateBefore);
    assert.match(agent.process.stderr, /it was ended by SIGKILL/);
  });

  test('one that hangs is killed after 30 s, and the agent goes on meanwhile', async () => {
    const hung = await child();
    const startedMs = performance.now();
    sendSignal(hung, 'SIGSTOP');
    await agentAnswers();
    const ended = async () => !(await isAlive(hung));
    await waitFor('the hung one to be killed', ended, { timeoutMs: 45_000, intervalMs: 100 });
    const tookMs = performance.now() - startedMs;
    assert.ok(tookMs > 25_000 && tookMs < 40_000, `after ${tookMs} ms`);
    await agentAnswers();
    await another(hung);
    await heartbeat();
    assert.match(agent.process.stderr, /it was silent for 30 s and was killed/);
    assert.equal(agent.process.exit, undefined);
  });

  test('SIGTERM to it alone, as from an operator: it comes back', async () => {
    const stopped = await child();
    sendSignal(stopped, 'SIGTERM');
    await another(stopped);
    await heartbeat();
  });

  test('SIGINT to it alone does nothing', async () => {
    const pid = await child();
    sendSignal(pid, 'SIGINT');
    for (let look = 1; look <= 20; look += 1) await lease();
    assert.equal(await controlPlaneOf(agent.pid), pid);
  });

  test('kill -9 of the agent leaves no control plane, and the next agent can start at once', async () => {
    const uid = await nodeUid();
    for (let round = 1; round <= 3; round += 1) {
      const orphan = await child();
      await agent.process.kill9();
      const killedMs = Date.now();
      if (round === 1) await waitFor('the control plane to end', async () => !(await isAlive(orphan)));
      agent = await startAgent({ rootDir, args });
      assert.ok(agent.readyMs < 10_000, `${agent.readyMs} ms`);
      assert.equal(await isAlive(orphan), false);
      await heartbeat(killedMs);
    }
    assert.equal(await nodeUid(), uid);
  });

  test('one that is stopped when the agent is killed is ended by the next agent', async () => {
    const stuck = await child();
    sendSignal(stuck, 'SIGSTOP');
    await waitFor('it to be stopped', async () => (await findProcess(stuck))?.state === 'T');
    await agent.process.kill9();
    const killedMs = Date.now();
    assert.ok(await isAlive(stuck));
    agent = await startAgent({ rootDir, args });
    assert.equal(await isAlive(stuck), false);
    assert.match(agent.process.stderr, /ending the control plane that an earlier agent left behind/);
    await heartbeat(killedMs);
  });

  test('Ctrl-C while it hangs ends both within 3 s', async () => {
    const stuck = await child();
    sendSignal(stuck, 'SIGSTOP');
    const { code, tookMs } = await agent.interrupt();
    assert.equal(code, 0, agent.process.stderr);
    assert.ok(tookMs < 3000, `it took ${tookMs} ms`);
    assert.equal(await isAlive(stuck), false);
    agent = await startAgent({ rootDir, args });
  });

  test('Ctrl-C while it is being started again ends both', async () => {
    sendSignal(await child(), 'SIGKILL');
    const { code, tookMs } = await agent.interrupt();
    assert.equal(code, 0, agent.process.stderr);
    assert.ok(tookMs < 3000, `it took ${tookMs} ms`);
    assert.deepEqual(await processesNaming(rootDir), []);
  });
});
