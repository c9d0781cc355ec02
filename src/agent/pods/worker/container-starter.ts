import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import { describeError, readRegularFile } from '../../../base/index.ts';
import {
  ContainerConfigError,
  containerConfig,
  hostsFile,
  resolveEnvironment,
  sandboxConfig,
} from '../../containers/index.ts';
import type { ContainerConfig, SandboxConfig } from '../../runtime/index.ts';
import { makeContainerLogFolder, podLogFolder } from '../logs/index.ts';
import { fullName } from '../names.ts';
import type { StartStep } from '../plan/index.ts';
import type { PodView } from '../view/types.ts';
import { runHook } from './hooks.ts';
import { findContainer, ipOf, namesOf, podFolder } from './pod-names.ts';
import { isUnanswered } from './record.ts';
import type { ExecutorOptions, StartOutcome, StartWork } from './types.ts';

/** Why a container was not started, with the reason of its status. */
class StartError extends Error {
  override readonly name = 'StartError';
  readonly reason: string;

  constructor(reason: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/** Makes and starts one container: everything from its devices to its postStart hook. */
export class ContainerStarter {
  readonly #options: ExecutorOptions;

  constructor(options: ExecutorOptions) {
    this.#options = options;
  }

  /** Rejects when it was cut off; what is wrong with the container is an outcome. */
  async start(work: StartWork, signal: AbortSignal): Promise<StartOutcome> {
    const { teller, log } = this.#options;
    const { pod, step } = work;
    try {
      await this.#start(work, signal);
      return { isStarted: true };
    } catch (error) {
      if (signal.aborted) throw error;
      const reason =
        error instanceof StartError || error instanceof ContainerConfigError
          ? error.reason
          : 'CreateContainerError';
      const message = describeError(error);
      log.debug(`pod ${fullName(pod)}: container ${step.container}: ${reason}: ${message}`);
      const event = { type: 'Warning', reason: 'Failed', message: `Error: ${message}` } as const;
      if (reason !== 'PostStartHookError') teller.event(pod, event, step.container);
      return { isStarted: false, reason, message, isUnanswered: isUnanswered(error) };
    }
  }

  /** The file behind terminationMessagePath; each attempt has its own. */
  messageFileOf(rootDir: string, pod: Pod, container: string, attempt: number): string {
    return join(podFolder(rootDir, pod), 'containers', container, attempt.toString(16).padStart(8, '0'));
  }

  async #start(work: StartWork, signal: AbortSignal): Promise<void> {
    const { pod, step, view } = work;
    const id = await this.#makeAndStart(work, signal);
    await this.#postStart(pod, step, id, view, signal);
  }

  /** Holds a slot; returns the id of the container that was started. */
  async #makeAndStart(work: StartWork, signal: AbortSignal): Promise<string> {
    const { calls, teller } = this.#options;
    const { pod, step } = work;
    const { container } = step;
    using _slot = await this.#options.enter(pod, 'container', signal);
    const [config, sandbox] = await this.#configure(work, signal);
    signal.throwIfAborted();
    // a call that is given up is carried out half: the runtime could neither start nor remove that container
    const making = calls.createContainer(step.sandboxId, config, sandbox);
    const id = await asReason('CreateContainerError', making);
    const report = (reason: string, message: string) =>
      teller.event(pod, { type: 'Normal', reason, message }, container);
    report('Created', `Created container: ${container}`);
    await asReason('PreStartHookError', this.#options.beforeStart(pod.metadata?.uid ?? '', container));
    if (work.isEnding()) throw new Error('the pod ends');
    await asReason('RunContainerError', calls.startContainer(id));
    report('Started', `Started container ${container}`);
    return id;
  }

  async #configure(
    { pod, step, image, view }: StartWork,
    signal: AbortSignal,
  ): Promise<[ContainerConfig, SandboxConfig]> {
    const { volumes, rootDir, logsDir } = this.#options;
    const cgroups = await this.#options.cgroups();
    const { container, attempt, restartCount, type } = step;
    const node = this.#options.node();
    const userIds = await this.#options.userIdsOf(pod);
    const profiles = await this.#options.security(pod, container);
    if ('reason' in profiles) throw new StartError(profiles.reason, profiles.message);
    const devices = await asReason(
      'UnexpectedAdmissionError',
      this.#options.devicesOf(pod, container, signal),
    );
    const podIps = view?.sandboxes.find(({ id }) => id === step.sandboxId)?.ips ?? [];
    const environment = resolveEnvironment(pod, container, { podIps, node });
    const mounts = await asReason(
      'CreateContainerConfigError',
      volumes.mountsOf(pod, container, environment),
    );
    const logFolder = podLogFolder(logsDir, namesOf(pod));
    await makeContainerLogFolder(logsDir, namesOf(pod), container);
    const config = containerConfig({
      ...{ pod, container, attempt, restartCount, environment, mounts, devices, userIds, node },
      image,
      hostsFile: await this.#writeHosts(pod, podIps),
      messageFile: await this.#makeMessageFile(rootDir, pod, container, attempt),
      seccomp: profiles.seccomp,
      appArmor: profiles.appArmor,
      volumeGroups: [],
      targetId: type === 'ephemeral' ? this.#targetOf(pod, container, view) : undefined,
    });
    const { config: sandbox } = sandboxConfig({
      ...{ pod, logFolder, cgroupParent: cgroups.parentOf(pod), userIds, node },
      attempt: view?.sandboxes.find(({ id }) => id === step.sandboxId)?.attempt ?? 0,
    });
    return [config, sandbox];
  }

  /** The container whose processes an ephemeral one is to see. */
  #targetOf(pod: Pod, container: string, view: PodView | undefined): string | undefined {
    const target = pod.spec?.ephemeralContainers?.find(({ name }) => name === container)?.targetContainerName;
    if (target === undefined || target === '') return undefined;
    const running = view?.containers.find(({ name, state }) => name === target && state === 'running');
    if (running === undefined)
      throw new StartError(
        'CreateContainerError',
        `unable to find target container ${JSON.stringify(target)}`,
      );
    return running.id;
  }

  /** The pod's own hosts file, written again at each start; undefined while it has no address. */
  async #writeHosts(pod: Pod, podIps: readonly string[]): Promise<string | undefined> {
    const isOnHost = pod.spec?.hostNetwork === true;
    if (!isOnHost && podIps.length === 0) return undefined;
    const path = join(podFolder(this.#options.rootDir, pod), 'etc-hosts');
    const hostFileText = isOnHost ? await readHostsFile() : '';
    const { clusterDomain } = this.#options.node();
    const text = hostsFile(pod, podIps, { hostFileText, clusterDomain });
    await writeFile(path, text, { mode: 0o644 });
    return path;
  }

  async #makeMessageFile(rootDir: string, pod: Pod, container: string, attempt: number): Promise<string> {
    const path = this.messageFileOf(rootDir, pod, container, attempt);
    await mkdir(join(path, '..'), { recursive: true, mode: 0o750 });
    await writeFile(path, '', { mode: 0o666 });
    await chmod(path, 0o666); // the container may run as any user, and the umask has taken bits away
    return path;
  }

  async #postStart(
    pod: Pod,
    step: StartStep,
    containerId: string,
    view: PodView | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const container = findContainer(pod, step.container);
    const handler = container?.lifecycle?.postStart;
    if (container === undefined || handler === undefined) return;
    const { calls, clock, teller, log } = this.#options;
    try {
      await runHook(handler, { containerId, container, podIp: ipOf(view) }, { calls, clock }, 0, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug(`pod ${fullName(pod)}: postStart of ${step.container}: ${describeError(error)}`);
      const event = {
        type: 'Warning',
        reason: 'FailedPostStartHook',
        message: 'PostStartHook failed',
      } as const;
      teller.event(pod, event, step.container);
      const killing = 'FailedPostStartHook';
      teller.event(pod, { type: 'Normal', reason: 'Killing', message: killing }, step.container);
      const graceSeconds = pod.spec?.terminationGracePeriodSeconds ?? 30;
      using _stop = await this.#options.beforeStop({ containerId, graceSeconds }, signal);
      await calls.stopContainer(containerId, graceSeconds, signal);
      throw new StartError('PostStartHookError', 'the postStart hook failed', { cause: error });
    }
  }
}

const hostsLimitBytes = 1024 * 1024;

/** That of the node. */
async function readHostsFile(): Promise<string> {
  try {
    return (await readRegularFile('/etc/hosts', { limitBytes: hostsLimitBytes })).toString();
  } catch {
    return ''; // a machine may have none
  }
}

async function asReason<T>(reason: string, doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    const own = error instanceof ContainerConfigError ? error.reason : reason;
    throw new StartError(own, describeError(error), { cause: error });
  }
}
