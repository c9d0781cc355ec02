import { join } from 'node:path';
import type { Node, Pod } from '../../api/index.ts';
import { qosClassOf } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import { withDeadline } from '../../base/index.ts';
import type { Evictor } from '../eviction/index.ts';
import type { Identity } from '../identity/index.ts';
import type { EventRecorder } from '../node/events/index.ts';
import type { Measure, NodeVolumesInUse } from '../node/index.ts';
import { createMeasure } from '../node/index.ts';
import { withApiService } from '../objects/index.ts';
import type { ResourceClaim } from '../plugins/claims/index.ts';
import { PodClaims, resourceClaim } from '../plugins/claims/index.ts';
import type { PodAllocationsOptions } from '../plugins/resource-state/index.ts';
import { PodTimeline, WaitTimes } from '../pods/explain/index.ts';
import type { Housekeeper } from '../pods/housekeeping/index.ts';
import { fullName, PodRuntimeView } from '../pods/index.ts';
import { measureSteps, NodeTeller, PodManager, PodRecords } from '../pods/worker/index.ts';
import { podCalls } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { NodeShutdown } from '../shutdown/index.ts';
import type { PodVolumes } from '../volumes/index.ts';
import { createAdmission } from './admission.ts';
import { ApiStatuses, noStatuses } from './api-statuses.ts';
import type { Drivers } from './assemble-drivers.ts';
import { createEvictor, evictionService } from './assemble-eviction.ts';
import type { ExecutorSources } from './assemble-executor.ts';
import { createExecutor, hostIpsOf } from './assemble-executor.ts';
import { openImages } from './assemble-images.ts';
import type { PodParts, PodStatuses } from './assemble-pods.ts';
import { assembleObjects } from './assemble-pods.ts';
import { createProber } from './assemble-probes.ts';
import { assembleShutdown } from './assemble-shutdown.ts';
import type { AgentContext } from './context.ts';
import { openRuntimeConnection, part, restartedService } from './context.ts';
import { createDeviceHealth } from './device-source.ts';
import { createFacts, disksOf } from './node-facts.ts';
import type { AssembledOomWatch } from './oom-watch.ts';
import { openOomWatch } from './oom-watch.ts';
import { PodCgroupsService } from './pod-cgroups.ts';
import { createRunningMetrics, observeRunning } from './pod-metrics.ts';
import { createPodCidr, createRelay, withProblem } from './pod-network.ts';
import { createPodRoutes } from './pod-routes.ts';
import { collectImages, isKnownPod, keepHouse, keepLogLinks, rotateLogs } from './pod-upkeep.ts';
import { createNodeStorage, createVolumes } from './pod-volumes.ts';
import { createReservedLimits } from './reserved-groups.ts';
import { openUsage } from './usage.ts';

export interface RunningPodSources extends ExecutorSources {
  events: EventRecorder;
  drivers: Pick<Drivers, 'dra' | 'volumes'>;
  identity: Pick<Identity, 'api'>;
}

export interface RunningPods {
  readonly services: readonly Service[];
  readonly routes: readonly AgentRoute[];
  /** Takes the Node as the API has it. */
  onNode(node: Node): void;
  readonly shutdown: NodeShutdown;
  /** For the status of the Node. */
  readonly volumesInUse: NodeVolumesInUse;
  /** What the node is short of. */
  readonly evictor: Pick<Evictor, 'pressures' | 'onChange'>;
  /** The pod with its status as this agent has it. */
  withStatus(pod: Pod): Pod;
  /** What the node has, and what is free of it. */
  readonly measure: Measure;
  /** What pods use; undefined on a machine without control groups. */
  readonly usage: ReturnType<typeof openUsage>;
  /** How full the volumes of claims are that pods have. */
  usedClaims(): ReturnType<PodVolumes['used']>;
  /** What pods were given, which a resize may change. */
  readonly allocations: Required<Pick<PodAllocationsOptions, 'given' | 'onGiven'>>;
  /** Pods that hold something of the node, also those that no source has any more, each with what it was given. */
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
  const metrics = createRunningMetrics(context);
  const connection = openRuntimeConnection(context, 'runtime', metrics.calls);
  const calls = podCalls(connection, { timeoutMs: config.runtimeRequestTimeoutMs });
  const measure = createMeasure({
    rootDir: options.rootDir,
    runtimeDisks: () => disksOf(runtime),
    ...part(context, 'node-facts'),
  });
  const facts = createFacts(context, pods, {
    measure,
    devices: sources.devices.amounts,
    hostIps: () => hostIpsOf(context),
  });
  const { objects, services: listed, lifetimes } = assembleObjects(context, pods);
  const view = new PodRuntimeView({
    ...{ calls, onListed: metrics.onListed },
    withEnd: (container, podUid) => oomWatch?.withEnd(container, podUid) ?? container,
    ...part(context, 'pod-view'),
  });
  const relay = createRelay(context, sources, view);
  const knownServices = pods.onApi === undefined ? listed : withApiService(listed, () => relay.state);
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
    pods: () => manager.workers().map(({ allocated }) => allocated),
    reserved: createReservedLimits(context, events),
    onReload: (listener) => context.live.onReload(listener),
    ...part(context, 'cgroups'),
  });
  const claims: PodClaims = stack.use(
    new PodClaims({
      path: join(options.rootDir, 'resource-claims.json'),
      drivers: sources.drivers.dra,
      readClaim: (namespace, name, signal) => readClaim(context, pods, namespace, name, signal),
      isKnown: (uid) => isKnownPod(uid, pods, { view, manager }),
      ...part(context, 'resource-claims'),
    }),
  );
  const executor = measureSteps(
    createExecutor(context, sources, {
      ...{ calls, volumes, teller, timeline, facts, cgroups, claims },
      ...{ objects, services: knownServices },
    }),
    metrics.steps,
    options.clock,
  );
  const probes = createProber(context, sources, { calls, teller });
  const manager: PodManager = new PodManager({
    ...{ view, images, volumes, records, executor, teller, objects, services: knownServices, probes },
    hostIps: () => hostIpsOf(context),
    onLooked: (kind, seconds) => metrics.lives.looked(kind, seconds),
    settings: () => ({ maxRestartWaitMs: context.live.current.pods.maxRestartWaitMs }),
    network: () => {
      const { networkReady, message } = runtime.status();
      return { isReady: networkReady, message };
    },
    source: pods.source,
    isComplete: pods.isComplete,
    admit: createAdmission({
      pressures: () => evictor.pressures(),
      ...{ facts, runtime, nodeName: context.nodeName, labels: options.nodeLabels },
      isStandalone: options.controlPlane.mode === 'standalone',
      isShuttingDown: () => shutdown.isShuttingDown,
      config: () => context.live.current,
    }),
    resizing: config.featureGates.InPlacePodVerticalScaling
      ? { allocatable: () => facts.resources().allocatable }
      : undefined,
    isShuttingDown: () => shutdown.isShuttingDown,
    onAbandoned: (uid) => house.claim(uid),
    onNodeChange(listener) {
      const following = new DisposableStack();
      following.use(runtime.onStatusChange(listener));
      following.use(view.onComplete(listener));
      following.use(sources.devices.inventory.onChange(listener));
      following.use(shutdown.onChange(listener));
      return following;
    },
    ...part(context, 'pods'),
  });
  const collector = collectImages(context, pods, events, { view, images, metrics: metrics.calls });
  // over a connection of its own: a question about all containers is not to delay what is done with one
  const usage = openUsage(context, openRuntimeConnection(context, 'runtime', metrics.calls));
  const oomWatch: AssembledOomWatch | undefined =
    usage && (await openOomWatch(context, { view, usage, events: noted.events }));
  const evictor: Evictor = createEvictor(context, {
    ...{ manager, runtime, measure, collector, view, usage, events: noted.events },
  });
  const shutdown: NodeShutdown = assembleShutdown(context, events, () => manager);
  const house: Housekeeper = keepHouse(context, pods, { view, manager, volumes, cgroups });
  observeRunning(context.metrics, { view, manager, volumes, housekeeper: house, source: pods.source });
  const podCidr = createPodCidr(context, connection, runtime);
  const statuses: PodStatuses = {
    statusOf: (uid) => teller.statusOf(uid),
    hasStatic: (name) =>
      manager.workers().some(({ pod, uid, origin }) => {
        return origin !== 'api' && fullName(pod) === name && teller.statusOf(uid) !== undefined;
      }),
    onChange: (listener) => teller.onChange(listener),
  };
  return {
    routes: [
      ...createPodRoutes(context, sources, {
        ...{ manager, teller, waits, probes, view, volumes, facts, evictor, connection },
        timeline: withProblem(timeline, relay),
      }),
      ...(oomWatch === undefined ? [] : [oomWatch.route]),
    ],
    shutdown,
    volumesInUse: storage.inUse,
    evictor,
    ...{ measure, usage },
    usedClaims: () => volumes.used(),
    onNode: ({ spec }) => podCidr.follow(spec?.podCIDRs ?? []),
    held: () =>
      manager.workers().flatMap(({ allocated, record }) => (record.isReleased === true ? [] : [allocated])),
    allocations: {
      given: ({ metadata }) => manager.worker(metadata?.uid ?? '')?.allocated,
      onGiven: (listener) => teller.onChange(listener),
    },
    withStatus(pod) {
      const status = teller.statusOf(pod.metadata?.uid ?? '');
      return status === undefined ? pod : { ...pod, status };
    },
    services: [
      collector,
      evictionService(evictor),
      restartedService(
        'pod-logs',
        ['pod-view'],
        rotateLogs(context, { calls, view, onRotated: metrics.onRotated }).run,
      ),
      restartedService('log-links', ['pod-view'], keepLogLinks(context, view).run),
      restartedService('housekeeping', ['pod-view'], house.run),
      restartedService('node-facts', ['lock'], facts.run),
      restartedService('pod-view', ['lock'], view.run),
      restartedService('probes', ['pod-view'], probes.run),
      ...(oomWatch === undefined ? [] : [restartedService('oom-watch', ['pod-view'], oomWatch.run)]),
      restartedService('pod-cidr', ['lock'], podCidr.run),
      restartedService('pod-cgroups', ['node-facts'], cgroups.run),
      ...lifetimes,
      ...(pods.onApi === undefined
        ? []
        : [pods.onApi.mirrors(statuses), restartedService('api-relay', ['identity'], relay.run)]),
      restartedService('resource-claims', ['lock'], claims.run),
      shutdown,
      restartedService(
        'pods',
        // not on what follows the API: static pods, which may be the control plane itself, run without it
        [
          'pod-view',
          'node-facts',
          'device-allocations',
          'resource-claims',
          'checkpointer',
          'probes',
          'eviction',
          shutdown.name,
        ],
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

const readTimeoutMs = 10_000;

async function readClaim(
  { options }: AgentContext,
  { onApi }: PodParts,
  namespace: string,
  name: string,
  signal: AbortSignal,
): Promise<ResourceClaim> {
  if (onApi === undefined) throw new Error('resource claims need a control plane');
  const limits = { clock: options.clock, timeoutMs: readTimeoutMs, signal };
  return await withDeadline(limits, `the control plane, asked for claim ${namespace}/${name},`, (within) =>
    onApi.api.get(resourceClaim, name, { namespace, signal: within }),
  );
}
