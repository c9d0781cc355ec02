import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Pod } from '../../api/index.ts';
import { runtimeClassKind, secretKind } from '../../api/index.ts';
import type { Clock, Service } from '../../base/index.ts';
import { describeError, ExitError, exitCodes } from '../../base/index.ts';
import { ifFound } from '../../client/index.ts';
import type { NodeSettings } from '../containers/index.ts';
import { readThermalPaths } from '../containers/index.ts';
import { CredentialProviders, ImageAccess, ImageRoom, readProviders } from '../images/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { createMeasure } from '../node/index.ts';
import type { DeviceAllocator } from '../plugins/allocation/index.ts';
import { explainRoutes, PodTimeline, WaitTimes } from '../pods/explain/index.ts';
import { PodRuntimeView } from '../pods/index.ts';
import { NodeExecutor, NodeTeller, PodManager, PodRecords, StartGate } from '../pods/worker/index.ts';
import { qosClassOf, readNodeCgroups } from '../resources/index.ts';
import type { Runtime } from '../runtime/index.ts';
import { defaultEndpoints, openConnection, podCalls } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { PodVolumes } from '../volumes/index.ts';
import { createAdmission } from './admission.ts';
import { ApiStatuses, noStatuses } from './api-statuses.ts';
import type { DeviceParts } from './assemble-devices.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import { createDeviceSource } from './device-source.ts';
import { NodeFacts } from './node-facts.ts';
import { PodCgroupsService } from './pod-cgroups.ts';
import { createExplainer } from './pod-explainer.ts';
import { collectImages, isKnownPod, keepHouse, keepLogLinks, rotateLogs } from './pod-upkeep.ts';
import { createProfileResolver } from './profile-resolver.ts';

export interface RunningPodSources {
  runtime: Runtime;
  pods: PodParts;
  events: EventRecorder;
  devices: DeviceParts;
  allocator: DeviceAllocator;
}

export interface RunningPods {
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  /** The pod with its status as this agent has it. */
  withStatus(pod: Pod): Pod;
  /** Pods that hold something of the node, also those that no source has any more. */
  held(): readonly Pod[];
}

/** How many pods start at a time for each processor: more share it and become ready no sooner. */
const startsPerCpu = 2;

/** Assembles what runs the pods of this node: the view of the runtime, images, volumes, and a worker for each pod. */
export async function assembleRunningPods(
  context: AgentContext,
  sources: RunningPodSources,
): Promise<RunningPods> {
  const { config, options, stack } = context;
  const { runtime, pods, events } = sources;
  const sink =
    pods.onApi === undefined ? noStatuses : stack.use(new ApiStatuses(pods.onApi.writer, pods.onApi.pods));
  const endpoints = listEndpoints(config.containerRuntimeEndpoint);
  const connection = stack.use(openConnection(endpoints));
  const calls = podCalls(connection, { timeoutMs: config.runtimeRequestTimeoutMs });
  const facts = createFacts(context, sources);
  const view = new PodRuntimeView({ calls, ...part(context, 'pod-view') });
  const images = stack.use(await openImages(context, sources));
  const volumes = new PodVolumes({
    rootDir: options.rootDir,
    memoryBytes: () => facts.allPodsLimits().memoryBytes,
    supportsRecursiveReadOnly: () =>
      runtime.status().handlers?.some((handler) => handler.recursiveReadOnlyMounts) ?? false,
    ...part(context, 'volumes'),
  });
  const records = stack.use(
    new PodRecords({ folder: join(options.rootDir, 'pod-records'), ...part(context, 'pods') }),
  );
  const timeline = new PodTimeline(options.clock);
  const waits = new WaitTimes(options.clock);
  const teller = new NodeTeller({
    ...{ sink, events, timeline, waits, qosClassOf },
    hostIps: () => hostIpsOf(context),
    runtimeName: () => runtime.status().name,
  });
  const cgroups: PodCgroupsService = new PodCgroupsService({
    connection,
    config: () => context.live.current,
    facts,
    pods: () => manager.workers().map(({ pod }) => pod),
    isKnown: (uid) => isKnownPod(uid, pods, { view, manager }),
    ...part(context, 'cgroups'),
  });
  const executor = createExecutor(context, sources, { calls, volumes, teller, facts, cgroups });
  const manager: PodManager = new PodManager({
    ...{ view, images, volumes, records, executor, teller },
    settings: () => ({ maxRestartWaitMs: context.live.current.pods.maxRestartWaitMs }),
    network: () => {
      const { networkReady, message } = runtime.status();
      return { isReady: networkReady, message };
    },
    source: pods.source,
    isComplete: pods.isComplete,
    admit: createAdmission({
      ...{ facts, runtime, nodeName: context.nodeName, labels: options.nodeLabels },
      isStandalone: options.controlPlane.mode === 'standalone',
      config: () => context.live.current,
    }),
    onNodeChange(listener) {
      const [status, complete] = [runtime.onStatusChange(listener), view.onComplete(listener)];
      return {
        [Symbol.dispose]() {
          status[Symbol.dispose]();
          complete[Symbol.dispose]();
        },
      };
    },
    ...part(context, 'pods'),
  });
  const service = (name: string, dependsOn: readonly string[], run: Service['run']): Service => ({
    ...{ name, dependsOn, onFailure: 'restart', run },
  });
  return {
    routes: explainRoutes(createExplainer({ manager, teller, timeline, waits, view })),
    held: () => manager.workers().flatMap(({ pod, record }) => (record.isReleased === true ? [] : [pod])),
    withStatus(pod) {
      const status = teller.statusOf(pod.metadata?.uid ?? '');
      return status === undefined ? pod : { ...pod, status };
    },
    services: [
      collectImages(context, events, { view, images }),
      service('pod-logs', ['pod-view'], rotateLogs(context, { calls, view }).run),
      service('log-links', ['pod-view'], keepLogLinks(context, view).run),
      service('housekeeping', ['pod-view'], keepHouse(context, pods, { view, manager }).run),
      service('node-facts', ['lock'], facts.run),
      service('pod-view', ['lock'], view.run),
      service('pod-cgroups', ['node-facts'], cgroups.run),
      ...(pods.onApi === undefined ? [] : [pods.onApi.mirrors(teller)]),
      service('pods', ['pod-view', 'node-facts', 'device-allocations', 'checkpointer'], manager.run),
    ],
  };
}

function listEndpoints(endpoint: string): readonly string[] {
  return endpoint === '' ? defaultEndpoints : [endpoint];
}

function createFacts(context: AgentContext, { devices, pods, runtime }: RunningPodSources): NodeFacts {
  const { live, nodeName, options } = context;
  const { clock } = options;
  return new NodeFacts({
    ...{ nodeName, clock },
    api: pods.onApi?.api,
    measure: createMeasure({
      rootDir: options.rootDir,
      runtimeDisks: () => {
        const { imageDir, containerDir } = runtime.images();
        return { images: imageDir, containers: containerDir };
      },
      ...part(context, 'node-facts'),
    }),
    devices: devices.amounts,
    hostIps: () => hostIpsOf(context),
    config: () => live.current,
  });
}

async function openImages(context: AgentContext, { pods, events }: RunningPodSources): Promise<ImageRoom> {
  const { config, options, stack } = context;
  const api = pods.onApi?.api;
  const endpoint = config.imageServiceEndpoint || config.containerRuntimeEndpoint;
  return new ImageRoom({
    connection: stack.use(openConnection(listEndpoints(endpoint))),
    timeoutMs: config.runtimeRequestTimeoutMs,
    pulls: config.images.pulls,
    access: stack.use(
      await ImageAccess.open({
        settings: config.images.access,
        path: join(options.rootDir, 'pulled-images.json'),
        ...part(context, 'images'),
      }),
    ),
    providers: await openProviders(context),
    nodeCredentialsFile: join(options.rootDir, 'config.json'),
    readSecret: async (namespace, name, signal) =>
      api === undefined ? undefined : (await ifFound(api.get(secretKind, name, { namespace, signal })))?.data,
    events,
    ...part(context, 'images'),
  });
}

/** Throws an ExitError for a description that cannot be used. */
async function openProviders(context: AgentContext): Promise<CredentialProviders | undefined> {
  const { credentialProviders: given } = context.options;
  if (given === undefined) return undefined;
  const { file, folder } = given;
  try {
    const providers = await readProviders(file);
    return new CredentialProviders({ providers, folder, env: process.env, ...part(context, 'images') });
  } catch (error) {
    const message = `--image-credential-provider-config: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  }
}

interface ExecutorParts {
  calls: ReturnType<typeof podCalls>;
  volumes: PodVolumes;
  teller: NodeTeller;
  facts: NodeFacts;
  cgroups: PodCgroupsService;
}

function createExecutor(
  context: AgentContext,
  { pods, devices, allocator }: RunningPodSources,
  { calls, volumes, teller, facts, cgroups }: ExecutorParts,
): NodeExecutor {
  const { options, config } = context;
  const gate = new StartGate(() => startsPerCpu * availableParallelism());
  const host = { cgroups: readNodeCgroups('/', false), maskedPaths: readThermalPaths('/') };
  return new NodeExecutor({
    ...{ calls, volumes, teller },
    rootDir: options.rootDir,
    logsDir: config.logs.folder,
    cgroups: () => cgroups.get(),
    madeCgroups: () => cgroups.current(),
    node: () => ({ ...nodeSettings(context, facts), ...host }),
    handlerOf: (pod) => readHandler(pod, pods.onApi?.api),
    userIdsOf: refuseUserNamespace,
    security: createProfileResolver(context),
    devicesOf: createDeviceSource(allocator, devices.inventory),
    beforeStart: (uid, container) => allocator.beforeStart(uid, container),
    releaseDevices: (uid) => allocator.release(uid),
    enter: (pod, signal) => enterGate(gate, pod, signal, options.clock),
    afterCheckpoint: async () => undefined,
    ...part(context, 'pods'),
  });
}

/** Longer calls hang: others need not wait for them. */
const slotMs = 15_000;
/** From this priority on a pod is critical. */
const criticalPriority = 2_000_000_000;

/** What the others may need, such as the network's own pods, waits for nothing. */
async function enterGate(gate: StartGate, pod: Pod, signal: AbortSignal, clock: Clock): Promise<Disposable> {
  const { priority = 0, hostNetwork = false } = pod.spec ?? {};
  if (hostNetwork || priority >= criticalPriority) return { [Symbol.dispose]: () => undefined };
  const slot = await gate.enter(priority, signal);
  const done = new AbortController();
  void clock.sleep(slotMs, done.signal).then(() => slot[Symbol.dispose]());
  return { [Symbol.dispose]: () => done.abort() };
}

function nodeSettings(context: AgentContext, facts: NodeFacts): NodeSettings {
  const { clusterDns, clusterDomain, defaultSysctls, cpuQuota } = context.live.current.pods;
  return {
    nodeName: context.nodeName,
    hostIps: hostIpsOf(context),
    ...{ clusterDns, clusterDomain, defaultSysctls, cpuQuota },
    hostDns: facts.hostDns(),
    ...facts.resources(),
  };
}

function hostIpsOf(context: AgentContext): string[] {
  return context
    .nodeAddresses()
    .filter(({ type }) => type === 'InternalIP')
    .map(({ address }) => address);
}

async function readHandler(
  pod: Pod,
  api: NonNullable<PodParts['onApi']>['api'] | undefined,
): Promise<string> {
  const name = pod.spec?.runtimeClassName;
  if (name === undefined || name === '') return '';
  if (api === undefined) throw new Error(`runtime class ${JSON.stringify(name)} needs a control plane`);
  return (await api.get(runtimeClassKind, name)).handler ?? '';
}

function refuseUserNamespace({ spec }: Pod): undefined {
  if (spec?.hostUsers === false)
    throw new Error('this agent gives pods no user namespaces of their own; leave spec.hostUsers unset');
}
