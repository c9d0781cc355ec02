import { availableParallelism } from 'node:os';
import type { Pod } from '../../api/index.ts';
import { runtimeClassKind } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { createRecentReader } from '../../base/index.ts';
import type { Checkpointer } from '../checkpoint/index.ts';
import type { NodeSettings } from '../containers/index.ts';
import { readThermalPaths } from '../containers/index.ts';
import type { KnownServices, PodObjects } from '../objects/index.ts';
import type { DeviceAllocator } from '../plugins/allocation/index.ts';
import type { PodClaims } from '../plugins/claims/index.ts';
import type { PodTimeline } from '../pods/explain/index.ts';
import { agentMark } from '../pods/index.ts';
import type { NodeTeller } from '../pods/worker/index.ts';
import { NodeExecutor, StartGate, waitForSlot } from '../pods/worker/index.ts';
import { readNodeCgroups } from '../resources/index.ts';
import type { podCalls, Runtime } from '../runtime/index.ts';
import type { PodVolumes } from '../volumes/index.ts';
import type { DeviceParts } from './assemble-devices.ts';
import type { PodParts } from './assemble-pods.ts';
import { createProfileResolver } from './assemble-seccomp.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import { createDeviceSource } from './device-source.ts';
import type { NodeFacts } from './node-facts.ts';
import type { PodCgroupsService } from './pod-cgroups.ts';
import { createUserIds } from './user-ids.ts';

export interface ExecutorSources {
  runtime: Runtime;
  pods: PodParts;
  devices: DeviceParts;
  allocator: DeviceAllocator;
  checkpointer: Pick<Checkpointer, 'beforeStop' | 'isUnderWay' | 'onBegin'>;
}

/** For each processor: more share it, and none of them is done sooner. */
const startsPerCpu = 2;
/** Node.js counts them by the quotas of this process's cgroups, of which it reads each file, and each start that waits asks for them. */
const processorsMaxAgeMs = 5000;

/** Returns how many may start at a time: of pods, and of commands of probes, each of which costs the runtime a new process. */
export function createStartLimit(clock: Clock): () => number {
  const processors = createRecentReader(clock, processorsMaxAgeMs, availableParallelism);
  return () => startsPerCpu * processors();
}

interface ExecutorParts {
  calls: ReturnType<typeof podCalls>;
  volumes: PodVolumes;
  teller: NodeTeller;
  timeline: PodTimeline;
  facts: NodeFacts;
  cgroups: PodCgroupsService;
  claims: PodClaims;
  objects: PodObjects;
  services: KnownServices;
}

/** Carries out what is planned for pods: it makes cgroups, sandboxes and containers, and removes them. */
export function createExecutor(
  context: AgentContext,
  { pods, devices, allocator, runtime, checkpointer }: ExecutorSources,
  { calls, volumes, teller, timeline, facts, cgroups, claims, objects, services }: ExecutorParts,
): NodeExecutor {
  const { options, config } = context;
  const handlerOf = (pod: Pod) => readHandler(pod, pods.onApi?.api);
  const gate = new StartGate(createStartLimit(options.clock));
  const host = {
    cgroups: readNodeCgroups('/', config.pods.killsSingleProcess),
    maskedPaths: readThermalPaths('/'),
  };
  return new NodeExecutor({
    ...{ calls, volumes, teller, objects, services },
    rootDir: options.rootDir,
    agentMark: agentMark(context.nodeName, options.rootDir),
    logsDir: config.logs.folder,
    cgroups: () => cgroups.get(),
    removeCgroup: (uid) => cgroups.remove(uid),
    node: () => ({ ...nodeSettings(context, facts), ...host }),
    handlerOf,
    ...createUserIds(context, runtime, handlerOf),
    security: createProfileResolver(context),
    devicesOf: createDeviceSource(allocator, devices.inventory, claims),
    prepareClaims: (pod, signal) => claims.prepare(pod, signal),
    releaseClaims: (uid) => claims.release(uid),
    beforeStart: (uid, container) => allocator.beforeStart(uid, container),
    releaseDevices: (uid) => allocator.release(uid),
    enter(pod, next, signal) {
      if (gate.isFull) timeline.add(pod.metadata?.uid ?? '', gateMessage);
      return waitForSlot(gate, pod, next === 'container', signal, options.clock);
    },
    beforeStop: (stop, signal) => checkpointer.beforeStop(stop, signal),
    ...part(context, 'pods'),
  });
}

const gateMessage = `waits for its turn: ${startsPerCpu} pods for each processor start at a time`;

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

/** The internal addresses of the node. */
export function hostIpsOf(context: AgentContext): string[] {
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
