import type { Service } from '../../base/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { Evictor } from '../eviction/index.ts';
import type { Identity } from '../identity/index.ts';
import { nodeApi, watchExpiry } from '../identity/index.ts';
import type { NodeSettings, NodeStatusOptions } from '../node/index.ts';
import { createNodeStatusService } from '../node/index.ts';
import type { Heartbeat } from '../node/lease/index.ts';
import { createLeaseService } from '../node/lease/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { NodeShutdown } from '../shutdown/index.ts';
import type { DeviceParts } from './assemble-devices.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** Connections for the status; the lease has one of its own, which nothing else can delay. */
const statusConnections = 2;

export interface Heartbeats {
  readonly services: readonly Service[];
  /** The state of the heartbeats; undefined where there are none. */
  heartbeat(): Heartbeat | undefined;
}

/** What other parts of the agent add to the node's status. */
export interface StatusSources {
  readonly conditions: NonNullable<NodeStatusOptions['conditions']>;
  readonly measure: NodeStatusOptions['measure'];
  readonly devices: Pick<DeviceParts, 'amounts' | 'inventory'>;
  readonly evictor: Pick<Evictor, 'pressures' | 'onChange'>;
  readonly shutdown: Pick<NodeShutdown, 'isShuttingDown' | 'remarks' | 'onChange'>;
  /** Called with the Node after each look at it. */
  readonly onNode: NonNullable<NodeStatusOptions['onNode']>;
  readonly volumesInUse: NonNullable<NodeStatusOptions['volumesInUse']>;
}

/** Assembles the services of the node's status and its lease. */
export function assembleHeartbeats(
  context: AgentContext,
  identity: Identity,
  runtime: Runtime,
  port: () => number,
  { conditions, measure, devices, evictor, onNode, volumesInUse, shutdown }: StatusSources,
): Heartbeats {
  const { options, config, live, nodeName, hostname, metrics, stack } = context;
  if (options.controlPlane.mode === 'standalone') return { services: [], heartbeat: () => undefined };
  const api = (connections: number) => stack.use(nodeApi(identity, connections, options.groupSuffix));
  const certificates = watchExpiry({ identity, metrics, ...part(context, 'identity') });
  const nodeStatus = createNodeStatusService({
    nodeName,
    hostname,
    api: api(statusConnections),
    runtime,
    measure,
    port,
    addresses: context.nodeAddresses,
    remarks: () => [...lease.remarks(), ...certificates.remarks(), ...shutdown.remarks()],
    problems: () => (shutdown.isShuttingDown ? ['node is shutting down'] : []),
    onProblems: shutdown.onChange,
    ...{ conditions, onNode, volumesInUse },
    pressures: () => evictor.pressures(),
    onPressures: (listener) => evictor.onChange(listener),
    extraResources: devices.amounts,
    onExtraResources: (listener) => devices.inventory.onChange(listener),
    settings: () => settingsOf(live.current, options.nodeLabels),
    onSettings: (listener) => live.onReload(listener),
    dependsOn: ['identity', 'server', 'eviction'],
    metrics,
    ...part(context, 'node-status'),
  });
  const lease = createLeaseService({
    nodeName,
    nodeUid: nodeStatus.nodeUid,
    api: api(1),
    durationSeconds: config.nodeLeaseDurationSeconds,
    dependsOn: ['identity'],
    metrics,
    ...part(context, 'lease'),
  });
  return { services: [nodeStatus, lease], heartbeat: lease.heartbeat };
}

function settingsOf(config: EffectiveConfig, labels: Readonly<Record<string, string>>): NodeSettings {
  return {
    maxPods: config.maxPods,
    podsPerCore: config.pods.podsPerCore,
    updateFrequencyMs: config.nodeStatusUpdateFrequencyMs,
    reportFrequencyMs: config.nodeStatusReportFrequencyMs,
    eviction: config.eviction,
    maxImages: config.nodeStatusMaxImages,
    reserved: config.reserved,
    registration: {
      register: config.registerNode,
      labels,
      taints: config.registerWithTaints,
      providerID: config.providerID,
    },
  };
}
