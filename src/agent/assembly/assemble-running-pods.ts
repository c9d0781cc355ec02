import { join } from 'node:path';
import type { Node, Pod } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import { createMeasure, PodCidr } from '../node/index.ts';
import type { ResourceClaim } from '../plugins/claims/index.ts';
import { PodClaims, resourceClaim } from '../plugins/claims/index.ts';
import { explainRoutes, PodTimeline, WaitTimes } from '../pods/explain/index.ts';
import type { Housekeeper } from '../pods/housekeeping/index.ts';
import { PodRuntimeView } from '../pods/index.ts';
import { measureSteps, NodeTeller, PodManager, PodRecords } from '../pods/worker/index.ts';
import { qosClassOf } from '../resources/index.ts';
import type { Connection, Runtime } from '../runtime/index.ts';
import { measureCalls, openConnection, podCalls, RuntimeError, RuntimeService } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { createAdmission } from './admission.ts';
import { ApiStatuses, noStatuses } from './api-statuses.ts';
import type { Drivers } from './assemble-drivers.ts';
import type { ExecutorSources } from './assemble-executor.ts';
import { createExecutor, hostIpsOf } from './assemble-executor.ts';
import { listEndpoints, openImages } from './assemble-images.ts';
import { assembleObjects } from './assemble-objects.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import { createDeviceHealth } from './device-source.ts';
import { NodeFacts } from './node-facts.ts';
import { createNodeStorage } from './node-storage.ts';
import { PodCgroupsService } from './pod-cgroups.ts';
import { createExplainer } from './pod-explainer.ts';
import { createRunningMetrics, observeRunning } from './pod-metrics.ts';
import { collectImages, isKnownPod, keepHouse, keepLogLinks, rotateLogs } from './pod-upkeep.ts';
import { createVolumes } from './pod-volumes.ts';

export interface RunningPodSources extends ExecutorSources {
  events: EventRecorder;
  drivers: Pick<Drivers, 'dra' | 'volumes'>;
}

export interface RunningPods {
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  /** Takes the Node as the API has it. */
  onNode(node: Node): void;
  /** The pod with its status as this agent has it. */
  withStatus(pod: Pod): Pod;
  /** Pods that hold something of the node, also those that no source has any more. */
  held(): readonly Pod[];
}

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
  const metrics = createRunningMetrics(context);
  const connection = measureCalls(
    stack.use(openConnection(endpoints, context)),
    metrics.calls,
    options.clock,
  );
  const calls = podCalls(connection, { timeoutMs: config.runtimeRequestTimeoutMs });
  const facts = createFacts(context, sources);
  const { objects, lifetimes } = assembleObjects(context, pods);
  const view = new PodRuntimeView({ calls, onListed: metrics.onListed, ...part(context, 'pod-view') });
  const timeline = new PodTimeline(options.clock);
  const noted = { ...sources, events: withTimeline(events, timeline) };
  const images = stack.use(await openImages(context, { ...noted, objects }, metrics));
  const storage = createNodeStorage(context, pods, facts, sources.drivers.volumes);
  const volumes = createVolumes(context, pods, {
    ...{ runtime, events: noted.events, timeline, facts, storage, objects, view },
  });
  const records = stack.use(
    new PodRecords({ folder: join(options.rootDir, 'pod-records'), ...part(context, 'pods') }),
  );
  const waits = new WaitTimes(options.clock);
  const teller = new NodeTeller({
    ...{ sink, events, timeline, waits, qosClassOf, metrics: metrics.lives },
    hostIps: () => hostIpsOf(context),
    runtimeName: () => runtime.status().name,
    deviceHealth: createDeviceHealth(sources.allocator, sources.devices.inventory),
  });
  const cgroups: PodCgroupsService = new PodCgroupsService({
    connection,
    config: () => context.live.current,
    facts,
    pods: () => manager.workers().map(({ pod }) => pod),
    isKnown: (uid) => isKnownPod(uid, pods, { view, manager }),
    ...part(context, 'cgroups'),
  });
  const claims: PodClaims = stack.use(
    new PodClaims({
      path: join(options.rootDir, 'resource-claims.json'),
      drivers: sources.drivers.dra,
      readClaim: (namespace, name, signal) => readClaim(pods, namespace, name, signal),
      isKnown: (uid) => isKnownPod(uid, pods, { view, manager }),
      ...part(context, 'resource-claims'),
    }),
  );
  const executor = measureSteps(
    createExecutor(context, sources, { calls, volumes, teller, timeline, facts, cgroups, claims }),
    metrics.steps,
    options.clock,
  );
  const manager: PodManager = new PodManager({
    ...{ view, images, volumes, records, executor, teller },
    onLooked: (kind, seconds) => metrics.lives.looked(kind, seconds),
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
    onAbandoned: () => house.wake(),
    onNodeChange(listener) {
      const [status, complete] = [runtime.onStatusChange(listener), view.onComplete(listener)];
      const health = sources.devices.inventory.onChange(listener);
      return {
        [Symbol.dispose]() {
          status[Symbol.dispose]();
          complete[Symbol.dispose]();
          health[Symbol.dispose]();
        },
      };
    },
    ...part(context, 'pods'),
  });
  const house: Housekeeper = keepHouse(context, pods, { view, manager });
  observeRunning(context.metrics, { view, manager, housekeeper: house, source: pods.source });
  const podCidr = createPodCidr(context, connection, runtime);
  const service = (name: string, dependsOn: readonly string[], run: Service['run']): Service => ({
    ...{ name, dependsOn, onFailure: 'restart', run },
  });
  return {
    routes: explainRoutes(
      createExplainer({ manager, teller, timeline, waits, view, isComplete: pods.isComplete }),
    ),
    onNode: ({ spec }) => podCidr.follow(spec?.podCIDRs ?? []),
    held: () => manager.workers().flatMap(({ pod, record }) => (record.isReleased === true ? [] : [pod])),
    withStatus(pod) {
      const status = teller.statusOf(pod.metadata?.uid ?? '');
      return status === undefined ? pod : { ...pod, status };
    },
    services: [
      collectImages(context, events, { view, images, metrics: metrics.calls }),
      service(
        'pod-logs',
        ['pod-view'],
        rotateLogs(context, { calls, view, onRotated: metrics.onRotated }).run,
      ),
      service('log-links', ['pod-view'], keepLogLinks(context, view).run),
      service('housekeeping', ['pod-view'], house.run),
      service('node-facts', ['lock'], facts.run),
      service('pod-view', ['lock'], view.run),
      service('pod-cidr', ['lock'], podCidr.run),
      service('pod-cgroups', ['node-facts'], cgroups.run),
      ...lifetimes,
      ...(pods.onApi === undefined ? [] : [pods.onApi.mirrors(teller)]),
      service('resource-claims', ['lock'], claims.run),
      service(
        'pods',
        ['pod-view', 'node-facts', 'device-allocations', 'resource-claims', 'checkpointer'],
        manager.run,
      ),
    ],
  };
}

/** What is reported of a pod's images also stands among what happened to the pod. */
function withTimeline(events: EventRecorder, timeline: PodTimeline): EventRecorder {
  return {
    record(subject, happening) {
      timeline.add(subject.uid, `${happening.reason}: ${happening.message}`);
      events.record(subject, happening);
    },
  };
}

function createPodCidr(context: AgentContext, connection: Connection, runtime: Runtime): PodCidr {
  const { pods, runtimeRequestTimeoutMs: deadlineMs } = context.config;
  return new PodCidr({
    configured: pods.podCidrs,
    async send(podCidr, cancel) {
      const request = { runtimeConfig: { networkConfig: { podCidr } } };
      await connection.call(RuntimeService.method.updateRuntimeConfig, request, { deadlineMs, cancel });
    },
    isRefused: (error) => error instanceof RuntimeError && error.reason === 'unimplemented',
    onRuntimeStart: (listener) => runtime.onStatusChange(({ ready }) => ready && listener()),
    ...part(context, 'pod-cidr'),
  });
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

const readTimeoutMs = 10_000;

async function readClaim(
  { onApi }: PodParts,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ResourceClaim> {
  if (onApi === undefined) throw new Error('resource claims need a control plane');
  const until = AbortSignal.any([signal, AbortSignal.timeout(readTimeoutMs)]);
  return await onApi.api.get(resourceClaim, name, { namespace, signal: until });
}
