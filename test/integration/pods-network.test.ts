/** Pods on a network: their addresses, ports of the node, and the node's own network. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Pod } from '../../src/api/index.ts';
import { waitFor } from '../support/index.ts';
import { ensureBuilt } from './installation.ts';
import type { PodNode, PodSpec } from './pods/index.ts';
import { isRunningAndReady, script, sleeper, startPodNode, uidOf, webServer } from './pods/index.ts';

before(ensureBuilt);

let lab: PodNode;
before(async () => {
  lab = await startPodNode();
});
after(() => lab?.[Symbol.asyncDispose]());

const ready = async (pod: Pod) =>
  (await lab.pods.until('it to run', uidOf(pod), (state) => isRunningAndReady(state.pod))).pod;
const start = async (name: string, spec: PodSpec) => await ready(await lab.run(name, spec));
const remove = async (pod: Pod) => {
  await lab.delete(pod.metadata?.name ?? '', 0);
  await lab.pods.until('it to be gone', uidOf(pod), ({ isGone }) => isGone);
};

/** What HTTP answers inside of the node; undefined when nothing does. */
async function answerOf(place: string): Promise<string | undefined> {
  const argv = ['--silent', '--max-time', '2', '--noproxy', '*', `http://${place}/`];
  const { code, stdout } = await lab.node.run('curl', argv);
  return code === 0 ? stdout.trim() : undefined;
}

const answers = (place: string, text: string) =>
  waitFor(`${text} from ${place}`, async () => (await answerOf(place)) === text, { intervalMs: 100 });

const withPort = (text: string, hostPort: number) =>
  webServer(80, text, { ports: [{ containerPort: 80, hostPort }] });

describe('a pod with an address of its own', () => {
  test('is reached there by the node and by other pods', async () => {
    const server = await start('server', { containers: [webServer(80, 'served')] });
    const { podIP = '' } = server.status ?? {};
    await answers(podIP, 'served');
    const ask = `until wget -q -O /dev/termination-log http://${podIP}/; do sleep 0.1; done`;
    const spec = { containers: [script('main', ask)], restartPolicy: 'Never' };
    const client = await lab.run('client', spec);
    const { pod: done } = await lab.pods.until(
      'the client to be done',
      uidOf(client),
      (state) => state.pod.status?.phase === 'Succeeded',
    );
    assert.equal(done.status?.containerStatuses?.[0]?.state?.terminated?.message, 'served\n');
    await remove(server);
    await remove(client);
  });

  test('is reached at a port of the node, which is free again when it is gone', async () => {
    const pod = await start('port', { containers: [withPort('first', 8090)] });
    await answers('127.0.0.1:8090', 'first');
    await answers(`${lab.node.address}:8090`, 'first');
    await remove(pod);
    const next = await start('next-port', { containers: [withPort('second', 8090)] });
    await answers(`${lab.node.address}:8090`, 'second');
    await remove(next);
  });

  test('that wants a port of the node that another has is refused', async () => {
    const owner = await start('owner', { containers: [withPort('owner', 8091)] });
    const pod = await lab.run('rival', { containers: [withPort('rival', 8091)] });
    const { pod: refused } = await lab.pods.until(
      'it to be refused',
      uidOf(pod),
      (state) => state.pod.status?.phase === 'Failed',
    );
    assert.equal(refused.status?.reason, 'NodePorts');
    assert.match(refused.status?.message ?? '', /^Pod was rejected: /);
    await answers(`${lab.node.address}:8091`, 'owner');
    await remove(pod);
    await remove(owner);
  });
});

describe('a pod on the network of the node', () => {
  test('has its address, and listens there', async () => {
    const pod = await start('host', { hostNetwork: true, containers: [webServer(8092, 'host')] });
    assert.equal(pod.status?.podIP, lab.node.address);
    assert.equal(pod.status?.hostIP, lab.node.address);
    await answers(`${lab.node.address}:8092`, 'host');
    const rival = await lab.run('host-rival', { hostNetwork: true, containers: [webServer(8092, 'rival')] });
    const { pod: refused } = await lab.pods.until(
      'it to be refused',
      uidOf(rival),
      (state) => state.pod.status?.phase === 'Failed',
    );
    assert.equal(refused.status?.reason, 'NodePorts');
    await remove(rival);
    await remove(pod);
  });

  test('is called like the node', async () => {
    const tell = script('main', 'hostname > /dev/termination-log');
    const pod = await lab.run('name', { hostNetwork: true, containers: [tell], restartPolicy: 'Never' });
    const { pod: done } = await lab.pods.until(
      'its name',
      uidOf(pod),
      (state) => state.pod.status?.phase === 'Succeeded',
    );
    const { stdout } = await lab.node.run('hostname');
    assert.equal(done.status?.containerStatuses?.[0]?.state?.terminated?.message, stdout);
    await remove(pod);
  });
});

test('addresses are given back: many pods, one after the other and at once, have one each', async () => {
  const names = Array.from({ length: 8 }, (_, index) => `many-${index}`);
  const pods = await Promise.all(names.map((name) => start(name, { containers: [sleeper()] })));
  const addresses = new Set(pods.map(({ status }) => status?.podIP));
  assert.equal(addresses.size, names.length);
  await Promise.all(pods.map(remove));
  const folder = `${lab.node.containerd.folder}/addresses/lab`;
  await waitFor('the addresses to be given back', async () => {
    const { stdout } = await lab.node.run('ls', [folder]);
    return stdout.split('\n').every((line) => !/^\d/.test(line));
  });
});
