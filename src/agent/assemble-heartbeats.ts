import type { Service } from '../base/index.ts';
import type { EffectiveConfig } from './config/index.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';
import type { Identity } from './identity/index.ts';
import { nodeApi } from './identity/index.ts';
import { createLeaseService } from './lease/index.ts';
import type { NodeSettings } from './node/index.ts';
import { createNodeStatusService } from './node/index.ts';
import type { Runtime } from './runtime/index.ts';

/** Connections for the status; the lease has one of its own, which nothing else can hold up. */
const statusConnections = 2;

/** The node's status and its lease: what tells the control plane that this node lives, and how. */
export function assembleHeartbeats(
  context: AgentContext,
  identity: Identity,
  runtime: Runtime,
  port: () => number,
): readonly Service[] {
  const { options, config, live, nodeName, hostname, metrics, stack } = context;
  if (options.controlPlane.mode === 'standalone') return [];
  const api = (connections: number) => stack.use(nodeApi(identity.api, connections, options.groupSuffix));
  const nodeStatus = createNodeStatusService({
    nodeName,
    hostname,
    api: api(statusConnections),
    runtime,
    rootDir: options.rootDir,
    port,
    settings: () => settingsOf(live.current, options.nodeLabels),
    onSettings: (listener) => live.onReload(listener),
    dependsOn: ['identity', 'server'],
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
  return [nodeStatus, lease];
}

function settingsOf(config: EffectiveConfig, labels: Readonly<Record<string, string>>): NodeSettings {
  return {
    maxPods: config.maxPods,
    updateFrequencyMs: config.nodeStatusUpdateFrequencyMs,
    reportFrequencyMs: config.nodeStatusReportFrequencyMs,
    least: config.evictionHard,
    reserved: config.reserved,
    registration: {
      register: config.registerNode,
      labels,
      taints: config.registerWithTaints,
      providerID: config.providerID,
    },
  };
}
