import type { Pod } from '../../api/index.ts';
import { version } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { Checkpointer, CheckpointManager } from '../checkpoint/index.ts';
import { createCheckpointManager, createCheckpointRoutes } from '../checkpoint/index.ts';
import type { LiveConfig } from '../config/index.ts';
import { originTable } from '../config/index.ts';
import type { Identity } from '../identity/index.ts';
import { nodeApi } from '../identity/index.ts';
import type { Lock } from '../lock/index.ts';
import type { Measure } from '../node/index.ts';
import type { Heartbeat } from '../node/lease/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { Access, AccessSettings } from '../server/access/index.ts';
import { createAccess } from '../server/access/index.ts';
import type { AgentRoute, AgentServerService, HealthCheck, ServingFiles } from '../server/index.ts';
import {
  agentServer,
  healthPort,
  healthRoutes,
  metricsRoute,
  sendJson,
  statuszRoute,
} from '../server/index.ts';
import type { ClaimUse } from '../server/stats/index.ts';
import { createNodeUsage, RuntimeSource, statsRoutes } from '../server/stats/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';
import { openRuntimeConnection, part } from './context.ts';
import {
  createLeaseCheck,
  createLockCheck,
  createRuntimeCheck,
  formatHeartbeat,
  selfChecks,
} from './health-checks.ts';
import { describeRuntime } from './service-manager.ts';
import type { openUsage } from './usage.ts';

export interface ServerParts {
  identity: Identity;
  checkpointer: Checkpointer;
  servingFiles: ServingFiles;
  runtime: Runtime;
  lock: Lock;
  /** The routes of other parts. */
  routes: readonly AgentRoute[];
  pods: Pick<PodParts, 'source' | 'text'>;
  /** The pod with its status as this agent has it. */
  withStatus(pod: Pod): Pod;
  readonly measure: Measure;
  /** What pods use; undefined on a machine without control groups. */
  readonly usage: ReturnType<typeof openUsage>;
  /** How full the volumes of claims are. */
  claims(): readonly ClaimUse[];
  /** The state of the heartbeat; undefined where there is none. */
  heartbeat(): Heartbeat | undefined;
}

export interface ServerAssembly {
  readonly server: AgentServerService;
  readonly services: readonly Service[];
}

/** Assembles the agent's HTTPS server with the routes of all parts. */
export function assembleServer(context: AgentContext, parts: ServerParts): ServerAssembly {
  const { config, live } = context;
  const checks = checksOf(context, parts);
  const manager = createCheckpointManager({
    checkpointer: parts.checkpointer,
    retention: () => live.current.checkpoint.retention,
    metrics: context.metrics,
    ...part(context, 'checkpoint'),
  });
  const server = agentServer({
    enabled: config.server.enabled,
    address: config.address,
    port: config.port,
    serving: parts.servingFiles.serving,
    tls: () => live.current.server.tls,
    onSettings: (listener) => live.onReload(listener),
    routes: routesOf(context, parts, manager, checks),
    access: accessOf(context, parts.identity),
    dependsOn: ['lock', 'checkpointer'],
    ...part(context, 'server'),
  });
  const { healthzPort: port, healthzBindAddress: address } = config.server;
  const plain = port === 0 ? [] : [healthPort({ address, port, checks, dependsOn: ['lock'] })];
  return { server, services: [retentionService(manager), server, ...plain] };
}

/** Enforces the retention of checkpoints, also where nothing is served. */
function retentionService(manager: CheckpointManager): Service {
  return {
    name: 'checkpoint-retention',
    dependsOn: ['checkpointer'],
    onFailure: 'restart',
    async run(signal, ready) {
      ready();
      await manager.run(signal);
    },
  };
}

/** Connections for each kind of review; the lease and the status have connections of their own. */
const reviewConnections = 4;

function accessOf(context: AgentContext, identity: Identity): Access {
  const { options, live, metrics, nodeName, stack } = context;
  const standalone = options.controlPlane.mode === 'standalone';
  const api = () => stack.use(nodeApi(identity, reviewConnections, options.groupSuffix));
  return createAccess({
    nodeName,
    settings: () => (standalone ? certificatesOnly(live.current.server.access) : live.current.server.access),
    control: standalone ? undefined : { tokens: api(), permissions: api() },
    metrics,
    ...part(context, 'access'),
  });
}

/** Without a control plane only holders of certificates that the agent itself has issued are admitted. */
function certificatesOnly(settings: AccessSettings): AccessSettings {
  return { ...settings, tokens: false, anonymous: false };
}

function checksOf(context: AgentContext, { lock, runtime, heartbeat }: ServerParts): readonly HealthCheck[] {
  const { clock } = context.options;
  const leaseMs = context.config.nodeLeaseDurationSeconds * 1000;
  return [
    ...selfChecks,
    createLockCheck(lock),
    ...(context.options.controlPlane.mode === 'standalone'
      ? []
      : [createLeaseCheck(heartbeat, leaseMs, clock)]),
    createRuntimeCheck(runtime),
  ];
}

function routesOf(
  context: AgentContext,
  parts: ServerParts,
  manager: CheckpointManager,
  checks: readonly HealthCheck[],
): readonly AgentRoute[] {
  const { config, live, metrics } = context;
  const routes = [
    ...createCheckpointRoutes({
      checkpointer: parts.checkpointer,
      operations: manager.operations,
      enabled: config.featureGates.ContainerCheckpoint,
    }),
    ...manager.routes,
    ...healthRoutes(checks),
    ...statsOf(context, parts),
    ...parts.routes,
    configzRoute(live),
    metricsRoute(metrics),
  ];
  return [...routes, statusOf(context, parts, routes)];
}

/** Over a connection of their own, so that a list of hundreds of containers does not delay a checkpoint. */
function statsOf(context: AgentContext, parts: ServerParts): readonly AgentRoute[] {
  const { runtime, pods, withStatus, usage, measure } = parts;
  const { config, nodeName, addresses } = context;
  const { clock } = context.options;
  const connection = openRuntimeConnection(context, 'runtime');
  const images = config.imageServiceEndpoint === '' ? connection : openRuntimeConnection(context, 'images');
  return statsRoutes({
    nodeName,
    addresses,
    runtimeName: () => runtime.status().name,
    source: new RuntimeSource({ connection, images, clock }),
    known: () => pods.source.pods().map(withStatus),
    nodeUsage: createNodeUsage({ measure, clock }),
    ...(usage === undefined ? {} : { own: { ...usage, claims: parts.claims } }),
    clock,
  });
}

function statusOf(
  { options, live, nodeName }: AgentContext,
  { lock, runtime, heartbeat, pods }: ServerParts,
  routes: readonly AgentRoute[],
): AgentRoute {
  const { clock } = options;
  const startedMs = clock.now();
  const startedMonotonicMs = clock.monotonicMs();
  let loads = 1;
  let loadedMs = startedMs;
  live.onReload(() => {
    loads += 1;
    loadedMs = clock.now();
  });
  return statuszRoute({
    startedMs,
    uptimeMs: () => clock.monotonicMs() - startedMonotonicMs,
    version: version.gitVersion,
    lines: [
      ['Node', () => nodeName],
      ['Lock', () => (lock.lost.aborted ? 'lost' : `held, ${options.lockFile}`)],
      ['Configuration', () => `loaded ${loads} times, last ${new Date(loadedMs).toUTCString()}`],
      ['Heartbeat', () => formatHeartbeat(heartbeat(), clock)],
      ['Container runtime', () => describeRuntime(runtime.status())],
      ['Static pods', pods.text],
    ],
    routes,
  });
}

function configzRoute(live: Pick<LiveConfig, 'loaded' | 'pending'>): AgentRoute {
  return {
    path: '/configz',
    subresource: 'configz',
    methods: { GET: ({ reply, query }) => sendJson(reply, 200, createConfigz(live, query)) },
  };
}

/**
 * Returns the body of `/configz`: the current configuration in the form of the reference, as printed by `nodeward config
 * view`; with `?origin=true` also the origin of each value; and the fields that wait for a restart, if any.
 */
function createConfigz(
  { loaded, pending }: Pick<LiveConfig, 'loaded' | 'pending'>,
  query: URLSearchParams,
): unknown {
  return {
    kubeletconfig: loaded.printable,
    ...(query.get('origin') === 'true' ? { origins: originTable(loaded.provenance) } : {}),
    ...(pending.length === 0 ? {} : { pendingRestart: pending }),
  };
}
