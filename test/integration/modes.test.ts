/** The agent with a control plane elsewhere, without any, and beside another agent. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { PeerCertificate } from 'node:tls';
import { connect as connectTls } from 'node:tls';
import { exitCodes } from '../../src/base/index.ts';
import type { TemporaryFolder } from '../support/index.ts';
import { freePort, runSuccessfully, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { Kubectl, LabContainer, LabContainerd, Pod } from './lab/index.ts';
import { kubectl, startContainerd } from './lab/index.ts';
import type { AgentStart, RunningAgent, RunningApiServer } from './nodeward/index.ts';
import {
  controlPlaneOf,
  curl,
  interrupt,
  launchAgent,
  nodeward,
  runAgentToItsEnd,
  startAgent,
  startApiServer,
  untilReady,
} from './nodeward/index.ts';

before(ensureBuilt);

/** A heartbeat every second, so that none is waited for long. */
const quickHeartbeats = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
nodeLeaseDurationSeconds: 4
`;

const portOf = (url: string): string => new URL(url).port;

/** The agent's certificate as a client sees it that trusts `authority` and expects `name`; throws when it does not verify. */
async function verifiedCertificate(url: string, authority: string, name: string): Promise<PeerCertificate> {
  const socket = connectTls({
    host: '127.0.0.1',
    port: Number(portOf(url)),
    ca: await readFile(authority, 'utf8'),
    servername: name,
  });
  try {
    await once(socket, 'secureConnect');
    return socket.getPeerCertificate();
  } finally {
    socket.destroy();
  }
}

async function output(tool: Kubectl, ...argv: string[]): Promise<string> {
  const { code, stdout, stderr } = await tool.run(argv);
  assert.equal(code, 0, stderr);
  return stdout;
}

describe('an agent with a control plane elsewhere', () => {
  let home: TemporaryFolder;
  let port: number;
  let server: RunningApiServer;
  let agent: RunningAgent;
  let tool: Kubectl;
  const folder = (name: string): string => join(home.path, name);
  const startServer = () => startApiServer(folder('control-plane'), { port });
  const start = (name: string, ...args: string[]) => startAgent(startOf(name, ...args));
  const startOf = (name: string, ...args: string[]): AgentStart => {
    const kubeconfig = folder('control-plane/admin.kubeconfig');
    const runtime = `unix://${folder('nowhere.sock')}`;
    const remote = ['--kubeconfig', kubeconfig, '--container-runtime-endpoint', runtime];
    const config = ['--config', folder('config.yaml')];
    return { rootDir: folder(name), args: [...config, ...remote, ...args] };
  };

  before(async () => {
    home = await temporaryFolder('remote-');
    await writeFile(folder('config.yaml'), quickHeartbeats);
    port = await freePort();
    server = await startServer();
    tool = kubectl(server.kubeconfig, home.path);
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  async function registers(node: string): Promise<void> {
    const shown = async () => (await output(tool, 'get', 'nodes', '-o', 'name')).includes(`node/${node}\n`);
    await waitFor('the node to be registered', shown, { timeoutMs: 20_000, intervalMs: 100 });
    const lease = ['get', 'lease', '-n', 'kube-node-lease', node, '-o', 'jsonpath={.spec.holderIdentity}'];
    await waitFor('its lease', async () => (await output(tool, ...lease)) === node, { timeoutMs: 20_000 });
  }

  async function showsItsCertificate(node: string): Promise<PeerCertificate> {
    const authority = folder('control-plane/pki/ca.crt');
    const certificate = await waitFor(
      'the serving certificate',
      () => verifiedCertificate(agent.summary.agent, authority, node),
      { timeoutMs: 30_000, intervalMs: 100 },
    );
    assert.deepEqual({ ...certificate.subject }, { O: 'system:nodes', CN: `system:node:${node}` });
    return certificate;
  }

  test('registers, runs no control plane, and gets a serving certificate from the cluster', async () => {
    agent = await start('one', '--hostname-override', 'node-one');
    const { node, API, kubeconfig } = agent.summary;
    assert.deepEqual([node, API, kubeconfig], ['node-one', undefined, undefined]);
    assert.equal(await controlPlaneOf(agent.pid), undefined);
    await registers(node);
    await showsItsCertificate(node);
    await assert.rejects(
      verifiedCertificate(agent.summary.agent, folder('control-plane/pki/ca.crt'), 'node-two'),
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    );
    const requests = await output(tool, 'get', 'csr', '-o', 'jsonpath={.items[*].spec.signerName}');
    assert.equal(requests, 'kubernetes.io/kubelet-serving');
  });

  test('nodeward checkpoint finds it through the API and verifies its name', async () => {
    const argv = ['checkpoint', 'default/nobody/main', '--kubeconfig', server.kubeconfig];
    const { code, stderr } = await nodeward(argv);
    assert.equal(code, exitCodes.failed);
    assert.match(
      stderr,
      /^nodeward: the agent at https:\S+ answered 500: .*the container runtime is not available/,
    );
    const missing = await nodeward([...argv, '--node', 'node-three']);
    assert.equal(missing.code, exitCodes.failed);
    assert.match(missing.stderr, /^nodeward: nodes "node-three" not found\n$/);
  });

  test('its users are those of the cluster', async () => {
    const url = `https://127.0.0.1:${portOf(agent.summary.agent)}/healthz/ping`;
    const authority = ['--cacert', folder('control-plane/pki/ca.crt')];
    const reach = ['--connect-to', `node-one:${portOf(url)}:127.0.0.1:${portOf(url)}`, '--noproxy', '*'];
    const named = url.replace('127.0.0.1', 'node-one');
    const admin = [
      '--cert',
      folder('control-plane/pki/admin.crt'),
      '--key',
      folder('control-plane/pki/admin.key'),
    ];
    const ask = (...more: string[]) =>
      runSuccessfully('curl', ['--silent', '--show-error', ...authority, ...reach, ...more, named]);
    assert.equal((await ask(...admin)).trim(), 'ok');
    assert.equal((await ask()).trim(), 'Unauthorized');
  });

  test('a second start uses the same certificate and Node, also while the API is away', async () => {
    const { node } = agent.summary;
    const before = await showsItsCertificate(node);
    const uid = await output(tool, 'get', 'node', node, '-o', 'jsonpath={.metadata.uid}');
    assert.equal((await agent.interrupt()).code, 0, agent.process.stderr);
    await server.process.stop();

    agent = await start('one', '--hostname-override', 'node-one');
    assert.ok(agent.readyMs < 30_000, `${agent.readyMs} ms`); // one that waits for the API would not be ready at all
    assert.equal((await showsItsCertificate(node)).fingerprint256, before.fingerprint256);

    server = await startServer();
    await registers(node);
    assert.equal(await output(tool, 'get', 'node', node, '-o', 'jsonpath={.metadata.uid}'), uid);
  });

  test('kill -9 of the API in between: heartbeats continue when it is back', async () => {
    await server.process.kill9();
    server = await startServer();
    const since = Date.now();
    const lease = ['get', 'lease', '-n', 'kube-node-lease', 'node-one', '-o', 'jsonpath={.spec.renewTime}'];
    const later = async () => Date.parse(await output(tool, ...lease)) > since;
    await waitFor('a heartbeat', later, { timeoutMs: 25_000, intervalMs: 200 });
  });

  test('ready means ready: a new node waits while the API is away, says so, and is ready when it has a certificate', async () => {
    await server.process.stop();
    assert.equal((await agent.interrupt()).code, 0, agent.process.stderr);
    const waiting = await launchAgent(startOf('two', '--hostname-override', 'node-two'));
    await waiting.waitForOutput(/^nodeward is not ready yet: no certificate for now: .*\n/m, {
      timeoutMs: 30_000,
    });
    assert.doesNotMatch(waiting.stdout, /nodeward is ready/);
    server = await startServer();
    agent = await untilReady(waiting);
    await registers('node-two');
    await showsItsCertificate('node-two');
  });

  test('a kubeconfig that changes counts without a restart', async () => {
    await agent[Symbol.asyncDispose]();
    const kubeconfig = folder('followed.kubeconfig');
    const good = await readFile(folder('control-plane/admin.kubeconfig'), 'utf8');
    const nobody = (await freePort()).toString();
    await writeFile(kubeconfig, good.replace(/(server: .*:)\d+/, `$1${nobody}`), { mode: 0o600 });
    const launched = await launchAgent(
      startOf('five', '--kubeconfig', kubeconfig, '--hostname-override', 'node-five'),
    );
    await launched.waitForOutput(/^nodeward is not ready yet: /m, { timeoutMs: 30_000 });
    await writeFile(kubeconfig, good);
    agent = await untilReady(launched);
    await registers('node-five');
    assert.match(agent.process.stderr, /the kubeconfig has changed and was read again/);
  });

  test('Ctrl-C while the API is away and nothing has a certificate yet ends it within 3 s', async () => {
    assert.equal((await agent.interrupt()).code, 0, agent.process.stderr);
    await server.process.stop();
    const waiting = await launchAgent(startOf('three', '--hostname-override', 'node-three'));
    await waiting.waitForOutput(/^nodeward is not ready yet: /m, { timeoutMs: 30_000 });
    const { code, tookMs } = await interrupt(waiting);
    assert.equal(code, 0, waiting.stderr);
    assert.ok(tookMs < 3000, `it took ${tookMs} ms`);
  });
});

describe('an agent without any API', () => {
  let home: TemporaryFolder;
  let rootDir: string;
  let runtime: LabContainerd;
  let agent: RunningAgent;
  let pod: Pod;
  let container: LabContainer;
  const start = () => {
    const args = ['--embedded-control-plane=false', '--container-runtime-endpoint', runtime.endpoint];
    return startAgent({ rootDir, args });
  };

  before(async () => {
    home = await temporaryFolder('standalone-');
    rootDir = join(home.path, 'root');
    runtime = await startContainerd();
    pod = await runtime.startPod();
    container = await pod.startContainer();
    agent = await start();
  });
  after(async () => {
    await agent?.[Symbol.asyncDispose]();
    await runtime?.[Symbol.asyncDispose]();
    await home?.[Symbol.asyncDispose]();
  });

  const kubeconfig = () => join(rootDir, 'agent.kubeconfig');
  const ready = () => waitFor('the kubeconfig', () => existsSync(kubeconfig()));

  test('says so, and keeps no store', async () => {
    const { API, kubeconfig: path } = agent.summary;
    assert.deepEqual([API, path], [undefined, kubeconfig()]);
    await ready();
    assert.equal((await stat(kubeconfig())).mode & 0o777, 0o600);
    assert.equal(await controlPlaneOf(agent.pid), undefined);
    for (const name of ['storage', 'admin.kubeconfig', 'pki/ca.key']) {
      assert.equal(existsSync(join(rootDir, name)), false, name);
    }
  });

  test('nodeward checkpoint works with what is in its root folder', async () => {
    const argv = ['checkpoint', `default/${pod.name}/main`, '--root-dir', rootDir];
    const { code, stdout, stderr } = await nodeward(argv);
    assert.equal(code, 0, stderr);
    assert.ok((await stat(stdout.trimEnd())).size > 10_000);
    await container.countsOn();
  });

  test('so does curl with the administrator’s certificate, and nobody else may', async () => {
    const url = `https://127.0.0.1:${portOf(agent.summary.agent)}/checkpoint/default/${pod.name}/main`;
    const pki = join(rootDir, 'pki');
    const authority = 'standalone-ca';
    const mine = await curl(pki, url, { as: 'standalone-admin', authority });
    assert.equal(mine.code, 200, mine.body);
    assert.equal((await curl(pki, url, { as: 'none', authority })).code, 401);
    await container.countsOn();
  });

  test('a second start keeps its certificates', async () => {
    const text = () => readFile(join(rootDir, 'pki/standalone-ca.crt'), 'utf8');
    const before = await text();
    assert.equal((await agent.interrupt()).code, 0, agent.process.stderr);
    agent = await start();
    await ready();
    assert.equal(await text(), before);
    const { node, agent: url } = agent.summary;
    await waitFor('its certificate', () =>
      verifiedCertificate(url, join(rootDir, 'pki/standalone-ca.crt'), node),
    );
    // the kubeconfig follows the port
    await waitFor('the kubeconfig to follow', async () =>
      (await readFile(kubeconfig(), 'utf8')).includes(portOf(url)),
    );
  });
});

describe('two agents', () => {
  test('with one lock: the second ends with code 4 and names the first; then takes over', async () => {
    await using home = await temporaryFolder('two-');
    const [one, two] = [join(home.path, 'one'), join(home.path, 'two')];
    const lock = ['--lock-file', join(home.path, 'agent.lock'), '--embedded-control-plane=false'];
    const first = await startAgent({ rootDir: one, args: lock });
    const refused = await runAgentToItsEnd({ rootDir: two, args: lock });
    assert.equal(refused.code, exitCodes.locked, refused.stderr);
    const said = refused.stderr.split('\n').filter((line) => line.startsWith('nodeward: '));
    assert.equal(said.length, 1, refused.stderr);
    assert.ok(said[0]?.includes(`process ${first.pid} `), said[0]);
    assert.equal(first.process.exit, undefined);

    await first.process.kill9();
    await using second = await startAgent({ rootDir: two, args: lock });
    assert.ok(second.readyMs < 10_000, `${second.readyMs} ms`);
  });

  test('with one root folder and a lock each: the control planes’ store is not shared', async () => {
    await using home = await temporaryFolder('two-');
    const rootDir = join(home.path, 'root');
    await using first = await startAgent({ rootDir });
    const refused = await runAgentToItsEnd({ rootDir, args: ['--lock-file', join(home.path, 'other.lock')] });
    assert.equal(refused.code, exitCodes.locked, refused.stderr);
    assert.equal(first.process.exit, undefined);
    assert.notEqual(await controlPlaneOf(first.pid), undefined);
    assert.equal((await first.interrupt()).code, 0);
  });

  test('the first leaves with success when it is to give its lock away', async () => {
    await using home = await temporaryFolder('two-');
    const [one, two] = [join(home.path, 'one'), join(home.path, 'two')];
    const lock = ['--lock-file', join(home.path, 'agent.lock'), '--embedded-control-plane=false'];
    await using first = await startAgent({ rootDir: one, args: [...lock, '--exit-on-lock-contention'] });
    await using second = await startAgent({ rootDir: two, args: lock });
    assert.deepEqual(await first.process.exited, { code: 0, signal: null }, first.process.stderr);
    assert.equal((await interrupt(second.process)).code, 0);
  });
});
