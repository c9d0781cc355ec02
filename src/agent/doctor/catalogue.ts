import { join } from 'node:path';
import type { ControlPlanePlace } from '../config/control-socket/index.ts';
import type { ConfigSources, EffectiveConfig } from '../config/index.ts';
import { findRuntimePlace } from '../lock/index.ts';
import { agentMark } from '../pods/index.ts';
import { defaultEndpoints, findExistingEndpoint, parseEndpoint, RuntimeError } from '../runtime/index.ts';
import { totalSeconds } from '../shutdown/index.ts';
import { createCertificateCheck } from './checks/certificates.ts';
import { cgroupChecks } from './checks/cgroups.ts';
import { clockChecks } from './checks/clock.ts';
import type { ConfigView } from './checks/configuration.ts';
import { viewConfig } from './checks/configuration.ts';
import { createControlPlaneCheck } from './checks/control-plane.ts';
import { createCriuChecks } from './checks/criu.ts';
import { createDiskChecks } from './checks/disks.ts';
import { createFolderChecks } from './checks/folders.ts';
import { createFeatureChecks } from './checks/kernel-features.ts';
import { createSysctlChecks } from './checks/kernel-sysctls.ts';
import { createLeftoverChecks } from './checks/leftovers.ts';
import { viewLock } from './checks/lock.ts';
import { createPodLeftoverCheck } from './checks/pod-leftovers.ts';
import { createPodRightsCheck } from './checks/pod-rights.ts';
import { createPodChecks, podHostChecks } from './checks/pods.ts';
import { createPortCheck } from './checks/ports.ts';
import { createReservedGroupsCheck } from './checks/reserved-groups.ts';
import { createRuntimeChecks } from './checks/runtime.ts';
import { createRuntimeAgentCheck, inspectRuntimeLock } from './checks/runtime-agent.ts';
import { securityChecks } from './checks/security.ts';
import { askLogind, createShutdownCheck } from './checks/shutdown.ts';
import { createSwapCheck } from './checks/swap.ts';
import type { Host } from './host.ts';
import type { RuntimeProcess } from './runtime-process.ts';
import { findRuntimeProcess } from './runtime-process.ts';
import type { RuntimeReport } from './runtime-report.ts';
import { countSandboxes, findFrozenContainers, queryRuntime } from './runtime-report.ts';
import type { Check, Finding } from './types.ts';

/** What an agent on this machine would be started with, according to flags and configuration. */
export interface AgentSetup {
  sources: ConfigSources;
  rootDir: string;
  certDir: string;
  lockFile: string;
  nodeName: string;
  groupSuffix: string;
  controlPlane: ControlPlanePlace;
  /** Port of an embedded control plane. */
  apiPort: number;
  /** The process of the agent that runs, where that has said so itself; else the lock tells. */
  agentPid?: number;
}

/** For each call to the runtime. */
const answerTimeoutMs = 3000;

/** All checks. The configuration is read by this call, everything else when the checks run. */
export async function createAllChecks(
  examined: AgentSetup,
  host: Host,
  signal: AbortSignal,
): Promise<Check[]> {
  const { rootDir, certDir, lockFile, controlPlane } = examined;
  const view = await viewConfig(examined.sources, host, signal);
  const runtime = createRuntimeQueries(view.config, host, signal);
  const lock = viewLock(lockFile);
  const { agentPid } = examined;
  const agent: typeof lock.agent = async (...asked) => agentPid ?? (await lock.agent(...asked));
  const apiPort = controlPlane.mode === 'embedded' ? examined.apiPort : undefined;
  const agentPort = view.config?.port ?? 10_250;
  return [
    ...createFastKernelChecks(runtime.answers, view.config),
    ...createRuntimeChecks(runtime.answers, runtime.checkpointEnabled),
    createRuntimeAgentCheck({
      rootDir,
      agentMark: agentMark(examined.nodeName, rootDir),
      place: runtime.lockPlace,
      sandboxes: runtime.sandboxes,
    }),
    ...createCriuChecks(runtime.process, runtime.checkpointEnabled),
    ...createLeftoverChecks({ rootDir, process: runtime.process, frozen: runtime.frozen }),
    ...createFolderChecks({ rootDir, certDir }),
    ...createPodChecks({
      runtime: runtime.answers,
      config: view.config,
      isDriverStated: view.states('cgroupDriver'),
    }),
    createReservedGroupsCheck(view.config, '/sys/fs/cgroup'),
    createPodRightsCheck(async (...asked) => {
      const pid = await agent(...asked);
      return pid === undefined ? undefined : `/proc/${pid}`;
    }),
    createPodLeftoverCheck(rootDir),
    createShutdownCheck({
      seconds: view.config?.shutdown && totalSeconds(view.config.shutdown),
      ask: askLogind,
      agent,
    }),
    ...createDiskChecks(rootDir, view.config?.logs.folder ?? '/var/log/pods', runtime.answers),
    lock.check,
    view.check,
    createCertificateCheck([certDir, join(rootDir, 'pki')], listServingFiles(view)),
    createPortCheck({
      id: 'agent-port',
      title: 'port of the agent',
      port: agentPort,
      flag: '--port',
      agent,
    }),
    createPortCheck({
      id: 'api-port',
      title: 'port of the embedded control plane',
      port: apiPort,
      flag: '--secure-port',
      agent,
    }),
    createControlPlaneCheck({ ...examined, place: controlPlane, agent }),
  ];
}

/** That another agent uses the runtime of the examined one, which cannot run then; undefined where none can be seen. */
export async function findOtherAgent(
  { sources, rootDir }: Pick<AgentSetup, 'sources' | 'rootDir'>,
  host: Host,
  signal: AbortSignal,
): Promise<Finding | undefined> {
  const { config } = await viewConfig(sources, host, signal);
  const place = await createRuntimeQueries(config, host, signal).lockPlace();
  return place === undefined ? undefined : (await inspectRuntimeLock(place, rootDir, host, signal)).other;
}

/** The checks that read the kernel's files. */
function createFastKernelChecks(
  answers: () => Promise<RuntimeReport>,
  config: Partial<Pick<EffectiveConfig, 'pods'>> | undefined,
): Check[] {
  return [
    ...createSysctlChecks(),
    ...createFeatureChecks(answers),
    ...cgroupChecks,
    ...securityChecks,
    createSwapCheck(config?.pods?.refuses.swap ?? false),
    ...podHostChecks,
    ...clockChecks,
  ];
}

/** Without `pods`: the defaults. */
export type FastCheckConfig = Pick<EffectiveConfig, 'containerRuntimeEndpoint' | 'featureGates'> &
  Partial<Pick<EffectiveConfig, 'pods'>>;

/** The checks of the agent's start: they take milliseconds, and leave out what the agent notices anyway. */
export function createFastChecks(config: FastCheckConfig, host: Host, signal: AbortSignal): Check[] {
  const { answers, checkpointEnabled } = createRuntimeQueries(config, host, signal);
  const checks = [
    ...createFastKernelChecks(answers, config),
    ...createRuntimeChecks(answers, checkpointEnabled),
    createPodRightsCheck(async () => '/proc/self'),
  ];
  return checks.filter(({ fast }) => fast);
}

/** Each query is made once, when the first check needs it; all checks share the result. */
function createRuntimeQueries(
  config: Pick<EffectiveConfig, 'containerRuntimeEndpoint' | 'featureGates'> | undefined,
  host: Host,
  signal: AbortSignal,
) {
  const endpoint = config?.containerRuntimeEndpoint || undefined;
  const ask = { endpoint, timeoutMs: answerTimeoutMs, signal };
  let answers: Promise<RuntimeReport> | undefined;
  let process: { found: RuntimeProcess | undefined } | undefined;
  return {
    checkpointEnabled: config?.featureGates.ContainerCheckpoint ?? true,
    answers: () => {
      answers ??= queryRuntime(ask);
      return answers;
    },
    frozen: () => unlessUnreachable(findFrozenContainers(ask)),
    sandboxes: () => unlessUnreachable(countSandboxes(ask)),
    lockPlace: async () => {
      const found = endpoint ?? (await findExistingEndpoint(defaultEndpoints));
      return found === undefined ? undefined : await findRuntimePlace(parseEndpoint(found));
    },
    process: () => {
      process ??= { found: findRuntimeProcess(host, endpoint) };
      return process.found;
    },
  };
}

/** Undefined where the runtime could not be asked. */
async function unlessUnreachable<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking;
  } catch (error) {
    if (error instanceof RuntimeError) return undefined;
    throw error;
  }
}

function listServingFiles({ config }: ConfigView): readonly string[] {
  const { tlsCertFile = '', clientCAFile = '' } = config?.files ?? {};
  return [tlsCertFile, clientCAFile].filter((path) => path !== '');
}
