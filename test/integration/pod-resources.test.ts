/** The pod resources service and the state files of resource managers, of a real agent with its control plane. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { lstat, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { status } from '@grpc/grpc-js';
import { openDeviceState } from '../../src/agent/plugins/allocation/index.ts';
import {
  AllocatableResourcesResponseSchema,
  GetPodResourcesResponseSchema,
  ListPodResourcesResponseSchema,
} from '../../src/agent/plugins/pod-resources/gen/pod-resources-v1_pb.js';
import type { Pod } from '../../src/api/index.ts';
import { podKind } from '../../src/api/index.ts';
import { silentLogger, systemClock } from '../../src/base/index.ts';
import type { ApiClient } from '../../src/client/index.ts';
import { clientOptionsOf, createClient, readKubeconfig } from '../../src/client/index.ts';
import { temporaryFolder, waitFor } from '../support/index.ts';
import type { RawClient } from '../unit/agent/plugins/pod-resources/raw-client.ts';
import { openRawClient, wire } from '../unit/agent/plugins/pod-resources/raw-client.ts';
import { runDevicePlugin } from './example-plugins/run-device-plugin.ts';
import { ensureBuilt } from './installation.ts';
import { startAgent } from './nodeward/index.ts';

const nodeName = 'resources-node';
const gpu = 'vendor.example/gpu';

before(ensureBuilt);

interface Lab extends AsyncDisposable {
  readonly rootDir: string;
  readonly kubeletDir: string;
  readonly api: ApiClient;
  readonly client: RawClient;
  /** `meanwhile` is done between the end of the agent and its start. */
  restart(gates: string, meanwhile: () => Promise<void>): Promise<void>;
}

async function startLab(): Promise<Lab> {
  const home = await temporaryFolder('resources-');
  const rootDir = join(home.path, 'root');
  const kubeletDir = join(home.path, 'kubelet');
  const manifests = join(home.path, 'manifests');
  const config = join(home.path, 'config.yaml');
  for (const folder of [rootDir, kubeletDir, manifests]) await mkdir(folder, { mode: 0o700 });
  await writeFile(
    config,
    `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
staticPodPath: ${manifests}
deviceManager: {kubeletPaths: true, kubeletDir: ${kubeletDir}}
`,
  );
  const args = ['--hostname-override', nodeName, '--config', config, '--lock-file', join(home.path, 'lock')];

  async function start(gates: string) {
    const agent = await startAgent({ rootDir, args: [...args, '--feature-gates', gates] });
    const socket = join(rootDir, 'pod-resources/nodeward.sock');
    assert.ok((await lstat(socket)).isSocket(), 'it is there before READY is told');
    const api = createClient(clientOptionsOf(await readKubeconfig(agent.summary.kubeconfig ?? '')));
    return { agent, api, client: openRawClient(socket) };
  }

  async function stop({ agent, api, client }: Awaited<ReturnType<typeof start>>): Promise<void> {
    client[Symbol.dispose]();
    await api.close();
    await agent[Symbol.asyncDispose]();
  }

  let running = await start('InPlacePodVerticalScaling=true');
  return {
    rootDir,
    kubeletDir,
    get api() {
      return running.api;
    },
    get client() {
      return running.client;
    },
    async restart(gates, meanwhile) {
      await stop(running);
      await meanwhile();
      running = await start(gates);
    },
    async [Symbol.asyncDispose]() {
      await stop(running);
      await home[Symbol.asyncDispose]();
    },
  };
}

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    nodeName,
    containers: [{ name: 'app', image: 'none.example/none', resources: { requests: { cpu: '100m' } } }],
  },
};

async function listed(client: RawClient): Promise<string[]> {
  const bytes = await client.call('/v1.PodResourcesLister/List');
  return fromBinary(ListPodResourcesResponseSchema, bytes).podResources.flatMap(({ name, containers }) =>
    containers.map(({ name: container, devices }) =>
      [name, container, ...devices.flatMap(({ deviceIds }) => deviceIds)].join(' '),
    ),
  );
}

async function stateOf(rootDir: string, name: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(rootDir, name), 'utf8'));
}

describe('what the containers of a node hold', { timeout: 180_000 }, () => {
  let lab: Lab;
  let uid: string;
  before(async () => {
    lab = await startLab();
  });
  after(() => lab?.[Symbol.asyncDispose]());

  test('a pod of the API is listed, at the path of the reference too, and its requests are kept', async () => {
    const made = await lab.api.create(podKind, pod);
    uid = made.metadata?.uid ?? '';
    await waitFor('the pod in the list', async () => (await listed(lab.client)).includes('web app'));
    using atKubelet = openRawClient(join(lab.kubeletDir, 'pod-resources/kubelet.sock'));
    assert.deepEqual(await listed(atKubelet), ['web app']);
    await waitFor('its requests in the file', async () => {
      const { allocationEntries } = await stateOf(lab.rootDir, 'pod_status_manager_state');
      assert.deepEqual(allocationEntries, { [uid]: { app: { cpu: '100m' } } });
      return true;
    });
  });

  test('a pod that is not there is not found', async () => {
    const asking = lab.client.call('/v1.PodResourcesLister/Get', wire([1, 'none'], [2, 'default']));
    await assert.rejects(asking, {
      code: status.NOT_FOUND,
      details: 'pod none in namespace default not found',
    });
  });

  test('the devices of a plugin are allocatable', async () => {
    const folder = join(lab.rootDir, 'device-plugins');
    const devices = [{ id: 'd0', numaNodes: [1] }, { id: 'd1' }];
    await using _plugin = await runDevicePlugin({ folder, resource: gpu, devices });
    await waitFor('both devices', async () => {
      const bytes = await lab.client.call('/v1.PodResourcesLister/GetAllocatableResources');
      const told = fromBinary(AllocatableResourcesResponseSchema, bytes).devices;
      assert.deepEqual(
        told.map(({ deviceIds }) => deviceIds.join()),
        ['d0', 'd1'],
      );
      assert.equal(told[0]?.topology?.nodes[0]?.ID, 1n);
      return true;
    });
    await waitFor('both in the state file', async () => {
      const { Data } = await stateOf(lab.rootDir, 'device-plugins/nodeward_internal_checkpoint');
      assert.deepEqual(Data, { PodDeviceEntries: [], RegisteredDevices: { [gpu]: ['d0', 'd1'] } });
      return true;
    });
  });

  test('the state files of resource managers say that nothing is assigned', async () => {
    const cpu = await stateOf(lab.rootDir, 'cpu_manager_state');
    const memory = await stateOf(lab.rootDir, 'memory_manager_state');
    assert.deepEqual([cpu['policyName'], memory['policyName']], ['none', 'None']);
  });

  test('devices that a container was given stay with it after a restart, until its pod is gone', async () => {
    await lab.restart('InPlacePodVerticalScaling=false', () => giveDevice(lab.rootDir, uid));
    assert.equal(existsSync(join(lab.rootDir, 'pod_status_manager_state')), false);
    await waitFor('the pod with its device', async () => (await listed(lab.client)).includes('web app d0'));
    const one = await lab.client.call('/v1.PodResourcesLister/Get', wire([1, 'web'], [2, 'default']));
    const { podResources } = fromBinary(GetPodResourcesResponseSchema, one);
    assert.deepEqual(podResources?.containers[0]?.devices[0]?.deviceIds, ['d0']);

    await lab.api.delete(podKind, 'web', { namespace: 'default', gracePeriodSeconds: 0 });
    await waitFor('the device to be free', async () => {
      const { Data } = await stateOf(lab.rootDir, 'device-plugins/nodeward_internal_checkpoint');
      assert.deepEqual(Object.entries(Object(Data)['PodDeviceEntries']), []);
      return true;
    });
    await waitFor('the pod to be listed no more', async () => (await listed(lab.client)).length === 0);
  });
});

/** No pods run here, so what an agent before has given is written by the code that the agent has for it. */
async function giveDevice(rootDir: string, podUid: string): Promise<void> {
  await using state = openDeviceState({ rootDir, clock: systemClock, log: silentLogger() });
  const response = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };
  const devices = [{ id: 'd0', numaNodes: [1] }];
  const holding = { podUid, containerName: 'app', resourceName: gpu, devices, response };
  await state.write({ holdings: [holding], registered: { [gpu]: ['d0'] } });
}
