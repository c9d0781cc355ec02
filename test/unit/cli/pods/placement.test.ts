/** A pod without a node is explained by the control plane, on the command line. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { waitFor } from '../../../support/index.ts';
import { nodeWith } from '../../apiserver/node-proxy/agent.ts';
import { named, startServer } from '../../apiserver/support/index.ts';
import { runCommandLine } from '../run-command.ts';

const pods = '/api/v1/namespaces/default/pods';
const server = await startServer({ scheduler: {} });
after(() => server[Symbol.asyncDispose]());
const { admin } = server;
const place = ['--kubeconfig', server.running.kubeconfig];
const explain = (...args: string[]) => runCommandLine(['pods', 'explain', ...args, ...place]);

async function addPod(name: string, spec: object = {}) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests: { cpu: '1' } } }];
  await admin.must('POST', pods, { ...named(name), spec: { containers, ...spec } });
}

async function addNode(name: string, cpu: string) {
  const status = {
    allocatable: { cpu, memory: '4Gi', pods: '10' },
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  await admin.must('POST', '/api/v1/nodes', { ...named(name), status });
}

describe('a pod without a node', () => {
  test('is explained by the control plane: node by node, and who would have to end', async () => {
    for (let index = 0; index < 7; index++) await addNode(`small-${index}`, '500m');
    await addNode('used', '1');
    await addPod('low');
    const nodeOf = async () => (await admin.must('GET', `${pods}/low`)).spec?.['nodeName'];
    await waitFor('its node', async () => (await nodeOf()) === 'used');
    const patient = { ...named('patient'), value: 10, preemptionPolicy: 'Never' };
    await admin.must('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', patient);
    await addPod('high', { priorityClassName: 'patient' });
    const summary = 'waits: 0/8 nodes are available: 8 Insufficient cpu. (NoNodeFits)';
    const end = '\nit would fit if less important pods ended:\n  used: default/low\n';
    const some = 'small-0, small-1, small-2, small-3, small-4';
    const head = `pod default/high has no node\n${summary}\n\nof 8 nodes 0 fit\n  8 not: Insufficient cpu (NodeResourcesFit): ${some}`;
    assert.deepEqual(await explain('high'), { code: 0, stdout: `${head} and 3 more\n${end}`, stderr: '' });
    const all = await explain('high', '--all');
    assert.equal(all.stdout, `${head}, small-5, small-6, used\n${end}`);
    const { stdout } = await explain('high', '-o', 'json');
    assert.equal(JSON.parse(stdout).status.waitsFor.reason, 'NoNodeFits');
  });

  test('is explained by its gates', async () => {
    await addPod('gated', { schedulingGates: [{ name: 'example.com/quota' }] });
    const { stdout } = await explain('default/gated');
    assert.match(
      stdout,
      /^pod default\/gated has no node\nwaits: scheduling gates hold it back, .*: example\.com\/quota \(SchedulingGated\)\n/,
    );
  });
});

test('a pod with a node is explained by its agent', async () => {
  await using agent = await nodeWith(server, 'with-agent', (_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({ namespace: 'default', name: 'there', uid: 'u', phase: 'Running', stage: 'running' }),
    );
  });
  await addPod('there', { nodeName: 'with-agent' });
  const { stdout, stderr } = await explain('there');
  assert.match(stdout, /^pod default\/there \(u, from .*\nphase Running/, stderr);
  assert.equal(agent.requests[0]?.url, '/pods/explain/default/there');
});
