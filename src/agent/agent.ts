import { hostname as systemHostname } from 'node:os';
import { checkName, version } from '../api/index.ts';
import type { Service } from '../base/index.ts';
import {
  createMetrics,
  describeError,
  ExitError,
  ensurePrivateFolder,
  exitCodes,
  registerBuildInfo,
  runServices,
} from '../base/index.ts';
import { assembleHeartbeats } from './assembly/assemble-heartbeats.ts';
import { assembleIdentity } from './assembly/assemble-identity.ts';
import { assembleLocal } from './assembly/assemble-local.ts';
import { assembleServer } from './assembly/assemble-server.ts';
import { checkMachine } from './assembly/check-machine.ts';
import type { AgentContext } from './assembly/context.ts';
import { part } from './assembly/context.ts';
import { agentUrl, describeAgent, toRunningAgent } from './assembly/describe-agent.ts';
import { acquireLockUnlessStopped, claimRuntimeUnlessStopped, lockService } from './assembly/locks.ts';
import type { AgentOptions, Announce } from './assembly/options.ts';
import { readiness } from './assembly/readiness.ts';
import { createReload } from './assembly/reload.ts';
import { checkReservedGroups } from './assembly/reserved-groups.ts';
import { serviceManager } from './assembly/service-manager.ts';
import type { Checkpointer } from './checkpoint/index.ts';
import { createCheckpointer, readRecipients } from './checkpoint/index.ts';
import { controlSocketService } from './config/control-socket/index.ts';
import type { EffectiveConfig } from './config/index.ts';
import { LiveConfig, loadConfig } from './config/index.ts';
import { createHostChecksService, createKernelReader } from './doctor/index.ts';
import type { Lock, RuntimeLock } from './lock/index.ts';
import { createAddressReader, findNodeIpsFault } from './node/index.ts';
import type { Runtime } from './runtime/index.ts';
import { connectRuntime } from './runtime/index.ts';
import type { ServingFiles } from './server/index.ts';
import { createServingFiles, servingFilesService } from './server/index.ts';

/**
 * Runs the node agent until `signal` aborts. First it checks what can prevent a start (configuration, folders, lock); then
 * the services start in the order of their dependencies, and stop in reverse:
 *
 *     lock ─┬─► control-plane ─► identity ─┬─► lease
 *           └─► checkpointer ─► server ────┴─► node-status
 *
 * Throws an ExitError for what an operator has to correct.
 */
export async function runAgent(
  options: AgentOptions,
  signal: AbortSignal,
  announce: Announce,
): Promise<void> {
  const { rootDir } = options;
  const nodeName = resolveNodeName(options);
  checkNodeIps(options);
  const servingFiles = createServingFiles();
  const live = await openConfig(options, servingFiles);
  checkMachine(live.current.pods.refuses, createKernelReader('/'));
  checkReservedGroups(live.current.enforcement.groups, '/sys/fs/cgroup');
  await ensurePrivateFolder(rootDir);
  await using lock = await acquireLockUnlessStopped(options, signal);
  if (lock === undefined) return;
  await using runtimeLock = await claimRuntimeUnlessStopped(options, live.current, signal);
  if (runtimeLock === undefined) return;
  await ensurePrivateFolder(options.certDir);
  await using stack = new AsyncDisposableStack();
  const { nodeIps = [], externalIps = [] } = options;
  const nodeAddresses = createAddressReader({ hostname: nodeName, nodeIps, externalIps }, options.clock);
  const addresses = () => nodeAddresses().map(({ address }) => address);
  const metrics = createMetrics();
  registerBuildInfo(metrics, version.gitVersion);
  const context = {
    options,
    config: live.current,
    live,
    nodeName,
    hostname: nodeName,
    addresses,
    nodeAddresses,
    metrics,
    claim: (socket: string) => runtimeLock.claim(socket),
    stack,
  };
  const runtime = stack.use(openRuntime(context));
  const stop = AbortSignal.any([signal, lock.contended]);
  await runParts(context, { lock, runtimeLock, runtime, servingFiles }, stop, announce);
}

interface Opened {
  lock: Lock;
  runtimeLock: RuntimeLock;
  runtime: Runtime;
  servingFiles: ServingFiles;
}

async function runParts(
  context: AgentContext,
  { lock, runtimeLock, runtime, servingFiles }: Opened,
  stop: AbortSignal,
  announce: Announce,
): Promise<void> {
  const { options, config, live, addresses, stack } = context;
  const checkpointer = stack.use(openCheckpointer(context, runtime));
  const url = async () => agentUrl(config.address, addresses(), await server.port.get());
  const { identity, controlPlane, services } = await assembleIdentity(context, url);
  const standalone = options.controlPlane.mode === 'standalone';
  stack.use(servingFiles.follow(identity.serving));
  const local = await assembleLocal(context, identity, runtime, checkpointer);
  const { server, services: serving } = assembleServer(context, {
    identity,
    checkpointer,
    servingFiles,
    runtime,
    lock,
    routes: local.routes,
    pods: local.pods,
    withStatus: local.running.withStatus,
    measure: local.running.measure,
    usage: local.running.usage,
    claims: local.running.usedClaims,
    heartbeat: () => heartbeats.heartbeat(),
  });
  const port = () => server.port.value ?? config.port;
  const hostChecks = createHostChecksService({
    config: () => live.current,
    runtime,
    metrics: context.metrics,
    ...part(context, 'host'),
  });
  const heartbeats = assembleHeartbeats(context, identity, runtime, port, {
    conditions: hostChecks.conditions,
    devices: local.devices,
    measure: local.running.measure,
    onNode: local.running.onNode,
    shutdown: local.running.shutdown,
    volumesInUse: local.running.volumesInUse,
    evictor: local.running.evictor,
  });
  const manager = serviceManager(context, runtime);
  const reload = createReload(context, live, manager);
  stack.use(options.onReloadAsked(() => void reload().catch(() => undefined))); // it has been logged

  function announceReady(): void {
    manager.ready();
    announce.ready(toRunningAgent(context, port(), controlPlane, runtime));
  }

  const parts = [
    lockService([lock.lost, runtimeLock.lost]),
    checkpointerService(checkpointer),
    servingFilesService(servingFiles, () => live.current.files, part(context, 'server')),
    ...services,
    ...serving,
    ...heartbeats.services,
    hostChecks,
    ...local.services,
    readiness({
      credentials: standalone ? {} : identity,
      serving: config.server.enabled ? servingFiles.serving : undefined,
      manager,
      onWaiting: announce.waiting,
      dependsOn: ['identity', 'server'],
      clock: options.clock,
    }),
    controlSocketService({
      rootDir: options.rootDir,
      reload,
      describe: () =>
        describeAgent(context, {
          url: agentUrl(config.address, addresses(), port()),
          api: controlPlane?.connection.value,
          runtimeEndpoint: runtime.status().endpoint,
        }),
      dependsOn: ['server'],
      ...part(context, 'control'),
    }),
  ];
  await runServices(
    {
      services: [...parts, ...manager.services],
      log: options.log,
      clock: options.clock,
      onReady: announceReady,
      onStopping: () => manager.stopping(),
    },
    stop,
  );
}

async function openConfig(options: AgentOptions, servingFiles: ServingFiles): Promise<LiveConfig> {
  const standalone = options.controlPlane.mode === 'standalone';
  const load = () => loadConfig({ ...options, standalone });
  const first = await load();
  for (const warning of first.warnings) options.log.child({ part: 'config' }).warn(warning);
  const prepare = async (next: EffectiveConfig) => {
    await checkRecipients(next);
    return await servingFiles.prepare(next.files);
  };
  const commit = await prepare(first.config);
  commit();
  return new LiveConfig({ first, load, prepare });
}

/** The file is read again for each checkpoint; one that cannot be used is reported now. */
async function checkRecipients({ checkpoint }: EffectiveConfig): Promise<void> {
  try {
    await readRecipients(checkpoint.encryption);
  } catch (error) {
    const message = `checkpoint.encryption: the recipients cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  }
}

function resolveNodeName({ hostnameOverride }: AgentOptions): string {
  const name = (hostnameOverride ?? systemHostname()).trim().toLowerCase();
  const wrong = checkName('subdomain', name);
  if (wrong === undefined) return name;
  const message = `the node cannot be named ${JSON.stringify(name)}: ${wrong}; give a name with --hostname-override`;
  throw new ExitError(exitCodes.usage, message);
}

function checkNodeIps({ nodeIps = [] }: AgentOptions): void {
  const wrong = findNodeIpsFault(nodeIps);
  if (wrong !== undefined) throw new ExitError(exitCodes.usage, `--node-ip: ${wrong}`);
}

function openRuntime(context: AgentContext) {
  const { config } = context;
  try {
    return connectRuntime({
      endpoint: config.containerRuntimeEndpoint || undefined,
      imageEndpoint: config.imageServiceEndpoint || undefined,
      requestTimeoutMs: config.runtimeRequestTimeoutMs,
      ...part(context, 'runtime'),
    });
  } catch (error) {
    throw new ExitError(exitCodes.configuration, String(error instanceof Error ? error.message : error), {
      cause: error,
    });
  }
}

function openCheckpointer(context: AgentContext, runtime: Runtime): Checkpointer {
  return createCheckpointer({
    runtime,
    rootDir: context.options.rootDir,
    defaultTimeoutMs: context.config.runtimeRequestTimeoutMs,
    nodeName: context.nodeName,
    settings: () => context.live.current.checkpoint,
    metrics: context.metrics,
    ...part(context, 'checkpoint'),
  });
}

/** Cleans up what earlier checkpoints have left, before a new one of the same container is taken. */
function checkpointerService(checkpointer: Checkpointer): Service {
  return {
    name: 'checkpointer',
    dependsOn: ['lock'],
    onFailure: 'stop',
    run: (signal, ready) => checkpointer.run(signal, ready),
  };
}
