import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import { describeError, readRegularFile } from '../../../base/index.ts';
import { ContainerConfigError, containerConfig, hostsFile, sandboxConfig } from '../../containers/index.ts';
import type { ContainerConfig, SandboxConfig } from '../../runtime/index.ts';
import { makeContainerLogFolder, podLogFolder } from '../logs/index.ts';
import { fullName } from '../names.ts';
import type { StartStep } from '../plan/index.ts';
import { ownGrace, stopStep } from '../plan/index.ts';
import type { PodView } from '../view/types.ts';
import { environmentOf, untilGiven } from './given.ts';
import { plainAnswer, runHook } from './hooks.ts';
import { addressOf, findContainer, namesOf, podFolder } from './pod-names.ts';
import { isUnanswered } from './record.ts';
import type { Executor, ExecutorOptions, StartOutcome, StartWork } from './types.ts';

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
  readonly #stop: Executor['stop'];

  /** `stop`: for a container whose postStart hook has failed. */
  constructor(options: ExecutorOptions, stop: Executor['stop']) {
    this.#options = options;
    this.#stop = stop;
  }

  /** Rejects when it was cut off; what is wrong with the container is an outcome. */
  async start(work: StartWork, signal: AbortSignal): Promise<StartOutcome> {
    const { teller, log } = this.#options;
    const { pod, step } = work;
    let isAsked = false;
    try {
      const containerId = await this.#start(work, signal, () => {
        isAsked = true;
      });
      return { isStarted: true, containerId };
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
      return { isStarted: false, reason, message, isAsked, isUnanswered: isUnanswered(error) };
    }
  }

  /** The file behind terminationMessagePath; each attempt has its own. */
  messageFileOf(rootDir: string, pod: Pod, container: string, attempt: number): string {
    return join(podFolder(rootDir, pod), 'containers', container, attempt.toString(16).padStart(8, '0'));
  }

  /** Returns the id of the container. */
  async #start(work: StartWork, signal: AbortSignal, onAsked: () => void): Promise<string> {
    const { pod, step, view } = work;
    const id = await this.#makeAndStart(work, signal, onAsked);
    await this.#postStart(pod, step, id, view, signal);
    return id;
  }

  /** Holds a slot; returns the id of the container that was started. */
  async #makeAndStart(work: StartWork, signal: AbortSignal, onAsked: () => void): Promise<string> {
    const { calls, teller } = this.#options;
    const { pod, step } = work;
    const { container } = step;
    await untilGiven(pod, container, this.#options, signal);
    using _slot = await this.#options.enter(pod, 'container', signal);
    const [config, sandbox] = await this.#configure(work, signal);
    signal.throwIfAborted();
    onAsked();
    // a call that is given up is carried out half: the runtime could neither start nor remove that container
    const making = calls.createContainer(step.sandboxId, config, sandbox);
    const id = await asReason('CreateContainerError', making);
    const report = (reason: string, message: string) =>
      teller.event(pod, { type: 'Normal', reason, message }, container);
    report('Created', 'Container created');
    await asReason('PreStartHookError', this.#options.beforeStart(pod.metadata?.uid ?? '', container));
    if (work.isEnding()) throw new Error('the pod ends');
    await asReason('RunContainerError', calls.startContainer(id));
    report('Started', 'Container started');
    return id;
  }

  async #configure(
    { pod, step, image, volumeImages, view }: StartWork,
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
    const environment = await environmentOf(pod, container, { podIps, node }, this.#options);
    const mounts = await asReason(
      'CreateContainerConfigError',
      volumes.mountsOf(pod, container, environment, volumeImages),
    );
    const access = await asReason('CreateContainerConfigError', volumes.accessOf(pod, container));
    const logFolder = podLogFolder(logsDir, namesOf(pod));
    await makeContainerLogFolder(logsDir, namesOf(pod), container);
    const config = containerConfig({
      ...{ pod, container, attempt, restartCount, environment, mounts, userIds, node },
      devices: { ...devices, devices: [...devices.devices, ...access.devices] },
      image,
      hostsFile: await this.#writeHosts(pod, podIps),
      messageFile: await this.#makeMessageFile(rootDir, pod, container, attempt),
      seccomp: profiles.seccomp,
      appArmor: profiles.appArmor,
      volumeGroups: access.groups,
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
    await chmod(path, 0o644); // as below
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
    const onPlainAnswer = (host: string) => teller.event(pod, plainAnswer(host));
    const place = { containerId, container, host: addressOf(pod, view, this.#options.node().hostIps) };
    try {
      await runHook(handler, place, { calls, clock, onPlainAnswer }, 0, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug(`pod ${fullName(pod)}: postStart of ${step.container}: ${describeError(error)}`);
      // without why: that may quote what a program wrote
      const reason = 'FailedPostStartHook';
      const event = { type: 'Warning', reason, message: 'PostStartHook failed' } as const;
      teller.event(pod, event, step.container);
      const instance = { id: containerId, name: step.container };
      const options = { ...ownGrace({ pod, nowMs: clock.now() }), message: reason };
      await this.#stop(pod, stopStep(instance, options, clock.now()), view, signal);
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
