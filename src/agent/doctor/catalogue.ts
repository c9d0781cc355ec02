import { join } from 'node:path';
import type { ConfigSources, EffectiveConfig } from '../config/index.ts';
import { RuntimeError } from '../runtime/index.ts';
import { certificateCheck } from './checks/certificates.ts';
import { cgroupChecks } from './checks/cgroups.ts';
import { clockChecks } from './checks/clock.ts';
import type { ConfigView } from './checks/configuration.ts';
import { viewConfig } from './checks/configuration.ts';
import type { ControlPlanePlace } from './checks/control-plane.ts';
import { controlPlaneCheck } from './checks/control-plane.ts';
import { criuChecks } from './checks/criu.ts';
import { diskChecks } from './checks/disks.ts';
import { folderChecks } from './checks/folders.ts';
import { featureChecks } from './checks/kernel-features.ts';
import { sysctlChecks } from './checks/kernel-sysctls.ts';
import { leftoverChecks } from './checks/leftovers.ts';
import { lockView } from './checks/lock.ts';
import { portCheck } from './checks/ports.ts';
import { runtimeChecks } from './checks/runtime.ts';
import { securityChecks } from './checks/security.ts';
import { swapCheck } from './checks/swap.ts';
import type { Host } from './host.ts';
import type { RuntimeAnswers } from './runtime-answers.ts';
import { askFrozen, askRuntime } from './runtime-answers.ts';
import type { RuntimeProcess } from './runtime-process.ts';
import { runtimeProcess } from './runtime-process.ts';
import type { Check } from './types.ts';

/** What an agent on this machine would be started with. */
export interface Examined {
  sources: ConfigSources;
  rootDir: string;
  certDir: string;
  lockFile: string;
  nodeName: string;
  groupSuffix: string;
  controlPlane: ControlPlanePlace;
  /** Port of an embedded control plane. */
  apiPort: number;
}

/** One answer of the runtime for all that the checks want. */
const answerTimeoutMs = 3000;

/** Everything that can be checked. The configuration is read at once, the rest when the checks are made. */
export async function allChecks(examined: Examined, host: Host, signal: AbortSignal): Promise<Check[]> {
  const { rootDir, certDir, lockFile, controlPlane } = examined;
  const view = await viewConfig(examined.sources, host, signal);
  const runtime = runtimeQuestions(view.config, host, signal);
  const lock = lockView(lockFile);
  const apiPort = controlPlane.mode === 'embedded' ? examined.apiPort : undefined;
  const agentPort = view.config?.port ?? 10_250;
  return [
    ...fastKernelChecks(runtime.answers),
    ...runtimeChecks(runtime.answers, runtime.checkpointEnabled),
    ...criuChecks(runtime.process, runtime.checkpointEnabled),
    ...leftoverChecks({ rootDir, process: runtime.process, frozen: runtime.frozen }),
    ...folderChecks({ rootDir, certDir }),
    ...diskChecks(rootDir, runtime.answers),
    lock.check,
    view.check,
    certificateCheck([certDir, join(rootDir, 'pki')], servingFiles(view)),
    portCheck({
      id: 'agent-port',
      title: 'port of the agent',
      port: agentPort,
      flag: '--port',
      agent: lock.agent,
    }),
    portCheck({
      id: 'api-port',
      title: 'port of the embedded control plane',
      port: apiPort,
      flag: '--secure-port',
      agent: lock.agent,
    }),
    controlPlaneCheck({ ...examined, place: controlPlane, agent: lock.agent }),
  ];
}

/** Those that read the kernel's files, and those of the agent's start. */
function fastKernelChecks(answers: () => Promise<RuntimeAnswers>): Check[] {
  return [
    ...sysctlChecks(),
    ...featureChecks(answers),
    ...cgroupChecks,
    ...securityChecks,
    swapCheck,
    ...clockChecks,
  ];
}

/** The checks of the agent's start: in milliseconds, and without what the agent looks at anyway. */
export function fastChecks(
  config: Pick<EffectiveConfig, 'containerRuntimeEndpoint' | 'featureGates'>,
  host: Host,
  signal: AbortSignal,
): Check[] {
  const { answers, checkpointEnabled } = runtimeQuestions(config, host, signal);
  const checks = [...fastKernelChecks(answers), ...runtimeChecks(answers, checkpointEnabled)];
  return checks.filter(({ fast }) => fast);
}

/** Each is asked once, when the first check wants it. */
function runtimeQuestions(
  config: Pick<EffectiveConfig, 'containerRuntimeEndpoint' | 'featureGates'> | undefined,
  host: Host,
  signal: AbortSignal,
) {
  const endpoint = config?.containerRuntimeEndpoint || undefined;
  const ask = { endpoint, timeoutMs: answerTimeoutMs, signal };
  let answers: Promise<RuntimeAnswers> | undefined;
  let process: { found: RuntimeProcess | undefined } | undefined;
  return {
    checkpointEnabled: config?.featureGates.ContainerCheckpoint ?? true,
    answers: () => {
      answers ??= askRuntime(ask);
      return answers;
    },
    frozen: () =>
      askFrozen(ask).catch((error: unknown) => {
        if (error instanceof RuntimeError) return undefined;
        throw error;
      }),
    process: () => {
      process ??= { found: runtimeProcess(host, endpoint) };
      return process.found;
    },
  };
}

function servingFiles({ config }: ConfigView): readonly string[] {
  const { tlsCertFile = '', clientCAFile = '' } = config?.files ?? {};
  return [tlsCertFile, clientCAFile].filter((path) => path !== '');
}
