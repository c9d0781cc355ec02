/** A node of the lab: a runtime and an agent with a network and mounts of their own, of which nothing is left. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RuntimeService } from '../../src/agent/runtime/gen/cri_pb.js';
import { nodeKind } from '../../src/api/index.ts';
import { clientOptionsOf, createClient, readKubeconfig } from '../../src/client/index.ts';
import { isAlive, temporaryFolder, waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { LabContainerd, LabNode } from './lab/index.ts';
import { idle, kubectl, serving, startLabNode } from './lab/index.ts';
import { startAgent } from './nodeward/index.ts';

before(ensureBuilt);

describe('a node of the lab', () => {
  let node: LabNode;
  before(async () => {
    node = await startLabNode();
  });
  after(() => node?.[Symbol.asyncDispose]());

  /** What HTTP answers inside; undefined when nothing does. */
  const fetchInside = async (url: string): Promise<string | undefined> => {
    const { code, stdout } = await node.run('curl', ['--silent', '--max-time', '5', '--noproxy', '*', url]);
    return code === 0 ? stdout.trim() : undefined;
  };

  test('pods have addresses on a bridge, and ports of the node on loopback, its address and from outside', async () => {
    const pod = await node.containerd.startPod({
      network: 'pod',
      ports: [{ hostPort: 8090, containerPort: 80 }],
    });
    await pod.startContainer({ workload: serving(80, 'hello') });
    const address = await addressOf(node.containerd, pod.id);
    assert.match(address, /^10\.88\.\d+\.\d+$/);

    for (const place of [`${address}:80`, '127.0.0.1:8090', `${node.address}:8090`]) {
      await waitFor(`an answer of ${place}`, async () => (await fetchInside(`http://${place}/`)) === 'hello');
    }
    const answer = await fetch(`http://${node.address}:8090/`);
    assert.equal((await answer.text()).trim(), 'hello');
    assert.deepEqual(
      Object.keys(networkInterfaces()).filter((name) => name === 'cni0'),
      [],
    );
    await pod.remove();
  });

  test('what pods send elsewhere comes from the address of the node', async () => {
    const callers: (string | undefined)[] = [];
    await using server = createServer(({ socket }, response) => {
      callers.push(socket.remoteAddress);
      response.end('outside');
    }).listen(0, node.outside);
    await waitFor('the server to listen', () => server.listening);
    const { port } = server.address() as AddressInfo;
    const pod = await node.containerd.startPod({ network: 'pod' });
    const container = await pod.startContainer({ workload: idle() });

    const answer = await container.exec('wget', '-q', '-O', '-', `http://${node.outside}:${port}/`);
    assert.deepEqual(answer, { stdout: 'outside', stderr: '', exitCode: 0 });
    assert.deepEqual(callers, [node.address]);
    await pod.remove();
  });

  test('its /var/log is a folder of the test, its /run is empty of what this machine has', async () => {
    await node.run('sh', [
      '-ec',
      'mkdir /var/log/pods; echo inside > /var/log/pods/note; echo x > /run/mine',
    ]);
    assert.equal(await readFile(join(node.logFolder, 'pods/note'), 'utf8'), 'inside\n');
    assert.equal(existsSync('/run/mine'), false);
    assert.equal(await readFile(`/proc/${node.holder}/root/run/mine`, 'utf8'), 'x\n');
  });

  test('an agent inside serves its API to inside and outside', async () => {
    await using home = await temporaryFolder('inside-');
    await using agent = await startAgent({
      rootDir: join(home.path, 'root'),
      namespace: node,
      args: [
        ...['--container-runtime-endpoint', node.containerd.endpoint, '--hostname-override', 'inside'],
        ...['--bind-address', node.address],
      ],
    });
    const { kubeconfig = '' } = agent.summary;
    await using api = createClient(clientOptionsOf(await readKubeconfig(kubeconfig)));
    const addresses = await waitFor('the node', async () => {
      return (await api.get(nodeKind, 'inside')).status?.addresses;
    });
    assert.deepEqual(
      addresses.find(({ type }) => type === 'InternalIP'),
      { type: 'InternalIP', address: node.address },
    );
    const outside = await kubectl(kubeconfig, home.path).run(['get', 'nodes', '-o', 'name']);
    const inside = await node.run('kubectl', ['--kubeconfig', kubeconfig, 'get', 'nodes', '-o', 'name']);
    assert.deepEqual([outside.stdout, inside.stdout], ['node/inside\n', 'node/inside\n']);
  });
});

test('disposal of a node leaves nothing, also of a runtime that was killed', async () => {
  await using node = await startLabNode();
  const pod = await node.containerd.startPod({
    network: 'pod',
    ports: [{ hostPort: 8090, containerPort: 80 }],
  });
  const container = await pod.startContainer();
  const lost = await node.start('sh', ['-c', `echo $$ > ${node.folder}/pid; exec sleep 1000000`]);
  await writeFile(join(node.folder, 'note'), '');
  await container.countsOn();
  await node.containerd.kill9();
  const links = await linksOfLab();

  await lost.stop();
  await node[Symbol.asyncDispose]();
  await node[Symbol.asyncDispose]();
  assert.equal(await isAlive(node.holder), false);
  assert.equal(await isAlive(container.pid), false);
  assert.equal(existsSync(node.folder), false);
  assert.equal(existsSync(node.containerd.folder), false);
  await waitFor('the link to go', async () => (await linksOfLab()).length < links.length);
  const mounts = await readFile('/proc/self/mounts', 'utf8');
  assert.equal(mounts.includes(node.containerd.folder), false);
});

async function addressOf({ cri }: LabContainerd, podSandboxId: string): Promise<string> {
  const { status } = await cri.call(RuntimeService.method.podSandboxStatus, { podSandboxId });
  return status?.network?.ip ?? '';
}

async function linksOfLab(): Promise<string[]> {
  return (await readdir('/sys/class/net')).filter((name) => name.startsWith('nwl'));
}
