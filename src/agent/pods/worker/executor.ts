import { mkdir, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { describeError, errorCode, noReason } from '../../../base/index.ts';
import { sandboxConfig } from '../../containers/index.ts';
import {
  containerLogPath,
  cutToBytes,
  findLoggedAttempts,
  makeLogFolder,
  messageBytesOf,
  podLogFolder,
  readTerminationMessage,
  removeLogsBefore,
  removePodLogs,
} from '../logs/index.ts';
import {
  agentAnnotation,
  annotationOf,
  firstObservedAnnotation,
  fullName,
  sourceAnnotation,
} from '../names.ts';
import type { RemoveContainerStep, ResizeStep, StopStep } from '../plan/index.ts';
import type { ContainerView, PodView } from '../view/types.ts';
import { ContainerStarter } from './container-starter.ts';
import { plainAnswer, runHook } from './hooks.ts';
import { addressOf, findContainer, listContainers, namesOf, podFolder } from './pod-names.ts';
import { resizePod } from './resize-pod.ts';
import type { Executor, ExecutorOptions, StartOutcome, StartWork } from './types.ts';
import { ClaimsError } from './types.ts';

/** What the kernel says to an agent without the rights for pods; ENOENT is mkdir's for folders in a read-only file system. */
function isRefusal(error: unknown): boolean {
  return ['EACCES', 'EPERM', 'EROFS', 'ENOENT'].includes(errorCode(error) ?? '');
}

/** Carries out the steps of plans through the runtime, the disk and the cgroups of this node. */
export class NodeExecutor implements Executor {
  readonly #options: ExecutorOptions;
  readonly #starter: ContainerStarter;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#starter = new ContainerStarter(options, (...stopping) => this.stop(...stopping));
  }

  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const { rootDir, logsDir, cgroups } = this.#options;
    try {
      await mkdir(podFolder(rootDir, pod), { recursive: true, mode: 0o750 });
      await makeLogFolder(podLogFolder(logsDir, namesOf(pod)));
      await (await unlessAborted(cgroups(), signal)).make(pod);
    } catch (error) {
      if (signal.aborted || !isRefusal(error)) throw error;
      throw new Error(`${describeError(error)}; see nodeward doctor --only pod-rights`, { cause: error });
    }
  }

  async runSandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<string> {
    const { calls, logsDir, cgroups, teller, node, clock, agentMark } = this.#options;
    await this.#prepareClaims(pod, signal);
    const { config, warnings } = sandboxConfig({
      pod,
      attempt,
      annotations: { ...annotationsOf(pod, clock), [agentAnnotation]: agentMark },
      logFolder: podLogFolder(logsDir, namesOf(pod)),
      cgroupParent: (await cgroups()).parentOf(pod),
      userIds: await this.#options.userIdsOf(pod),
      node: node(),
    });
    for (const { reason, message } of warnings) teller.event(pod, { type: 'Warning', reason, message });
    const handler = await this.#options.handlerOf(pod);
    try {
      using _slot = await this.#options.enter(pod, 'sandbox', signal);
      using given = abortedLater(signal, giveUpMs, clock);
      return await calls.runSandbox(config, handler, given.signal);
    } catch (error) {
      await this.#removeFailedSandbox(pod, attempt);
      throw error;
    }
  }

  async #prepareClaims(pod: Pod, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.prepareClaims(pod, signal);
    } catch (error) {
      throw new ClaimsError(describeError(error), { cause: error });
    }
  }

  /** A sandbox that failed half way may hold an address: it is stopped and removed. */
  async #removeFailedSandbox(pod: Pod, attempt: number): Promise<void> {
    const { calls, log } = this.#options;
    try {
      const found = await calls.listSandboxes(pod.metadata?.uid ?? '');
      for (const { id, metadata } of found) {
        if (metadata?.attempt !== attempt) continue;
        await calls.stopSandbox(id);
        await calls.removeSandbox(id);
      }
    } catch (error) {
      log.debug(`pod ${fullName(pod)}: a sandbox that failed may be left: ${describeError(error)}`);
    }
  }

  async stopSandbox(_pod: Pod, sandboxId: string): Promise<void> {
    await this.#options.calls.stopSandbox(sandboxId);
  }

  async removeSandbox(sandboxId: string): Promise<void> {
    await this.#options.calls.removeSandbox(sandboxId);
  }

  async start(work: StartWork, signal: AbortSignal): Promise<StartOutcome> {
    return await this.#starter.start(work, signal);
  }

  async stop(pod: Pod, step: StopStep, view: PodView | undefined, signal: AbortSignal): Promise<void> {
    const { calls, teller, clock } = this.#options;
    const { container, containerId, graceSeconds } = step;
    teller.event(pod, { type: 'Normal', reason: 'Killing', message: step.message }, container);
    const onWait = (seconds: number) =>
      teller.did(pod, `the stop of container ${container} waits for its checkpoint, at most ${seconds} s`);
    using _stop = await this.#options.beforeStop({ containerId, graceSeconds, onWait }, signal);
    const startedMs = clock.monotonicMs(); // what was frozen could not use its grace
    if (step.runsPreStop && graceSeconds > 0) await this.#preStop(pod, step, view, signal);
    const usedSeconds = (clock.monotonicMs() - startedMs) / 1000;
    const rest = graceSeconds === 0 ? 0 : Math.max(minimumStopSeconds, Math.ceil(graceSeconds - usedSeconds));
    await calls.stopContainer(containerId, rest, signal);
  }

  async #preStop(pod: Pod, step: StopStep, view: PodView | undefined, signal: AbortSignal): Promise<void> {
    const { calls, teller, clock, log } = this.#options;
    const spec = findContainer(pod, step.container);
    const handler = spec?.lifecycle?.preStop;
    if (spec === undefined || handler === undefined) return;
    const place = {
      containerId: step.containerId,
      container: spec,
      host: addressOf(pod, view, this.#options.node().hostIps),
    };
    const ended = new AbortController();
    const late = new AbortController();
    void clock.sleep(step.graceSeconds * 1000, ended.signal).then(() => late.abort());
    try {
      const until = AbortSignal.any([signal, late.signal]);
      const onPlainAnswer = (host: string) => teller.event(pod, plainAnswer(host));
      await runHook(handler, place, { calls, clock, onPlainAnswer }, step.graceSeconds, until);
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug(`pod ${fullName(pod)}: preStop of ${step.container}: ${describeError(error)}`);
      // without why: that may quote what a program wrote
      const event = { type: 'Warning', reason: 'FailedPreStopHook', message: 'PreStopHook failed' } as const;
      teller.event(pod, event, step.container);
    } finally {
      ended.abort(noReason);
    }
  }

  async resize(pod: Pod, step: ResizeStep): Promise<void> {
    await resizePod(pod, step, this.#options);
  }

  async removeContainer(
    pod: Pod,
    step: RemoveContainerStep,
    view: PodView | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { calls, logsDir, log } = this.#options;
    const { container, containerId } = step;
    await calls.removeContainer(containerId, signal);
    const attempt = oldestLogged(step, view?.containers ?? []);
    if (attempt === undefined) return;
    await removeLogsBefore(logsDir, namesOf(pod), container, attempt).catch((error: unknown) =>
      log.debug(`pod ${fullName(pod)}: old logs of ${container} are left: ${describeError(error)}`),
    );
  }

  async release(pod: Pod): Promise<void> {
    const { volumes, removeCgroup, releaseDevices, releaseUserIds, releaseClaims } = this.#options;
    const { uid, namespace, name } = namesOf(pod);
    await releaseClaims(uid);
    await volumes.release({ uid, namespace, name });
    await releaseDevices(uid);
    await releaseUserIds(uid);
    await removeCgroup(uid);
  }

  async forget(pod: Pod): Promise<void> {
    const { rootDir, logsDir } = this.#options;
    await removePodLogs(logsDir, namesOf(pod));
    await rm(podFolder(rootDir, pod), { recursive: true, force: true }); // last: it says whose the rest is
  }

  async loggedAttempts(pod: Pod): Promise<ReadonlyMap<string, number>> {
    const names = listContainers(pod).map(({ name }) => name);
    return await findLoggedAttempts(this.#options.logsDir, namesOf(pod), names);
  }

  async messageOf(pod: Pod, container: ContainerView): Promise<string> {
    const { rootDir, logsDir } = this.#options;
    const { name, attempt } = container;
    const message = await readTerminationMessage({
      file: findMessageFile(pod, container) ?? this.#starter.messageFileOf(rootDir, pod, name, attempt),
      policy: findContainer(pod, container.name)?.terminationMessagePolicy ?? 'File',
      logPath:
        container.logPath || containerLogPath(logsDir, namesOf(pod), container.name, container.attempt),
      exitCode: container.exitCode,
    });
    return cutToBytes(message, messageBytesOf(listContainers(pod).length));
  }
}

const messagePathAnnotation = 'io.kubernetes.container.terminationMessagePath';

/**
 * The file that was mounted for its message, which another agent may have named otherwise. Only one in the folder of that
 * container counts: a pod may mount another file of the machine at the same path.
 */
function findMessageFile(pod: Pod, { name, annotations, mounts }: ContainerView): string | undefined {
  const path = annotations[messagePathAnnotation];
  const folder = `/pods/${pod.metadata?.uid}/containers/${name}`;
  return mounts.find(
    ({ containerPath, hostPath }) =>
      containerPath === path && dirname(hostPath).endsWith(folder) && /\/[0-9a-f]{1,16}$/.test(hostPath),
  )?.hostPath;
}

/** The oldest attempt whose log stays, as in the reference: of those that are left, and of one that was removed for a restart of all. */
function oldestLogged(
  { container, containerId, forRestart }: RemoveContainerStep,
  views: readonly ContainerView[],
): number | undefined {
  const removed = views.find(({ id }) => id === containerId);
  if (removed === undefined) return undefined;
  const left = views.filter(({ name, id }) => name === container && id !== containerId);
  const own = forRestart === true ? removed.attempt : removed.attempt + 1;
  return Math.min(own, ...left.map(({ attempt }) => attempt));
}

/** As the reference: a runtime needs so long to tell a process that ends from one that hangs. */
const minimumStopSeconds = 2;

/** Where a pod of the API comes from, and when it was taken up, as the reference writes it on sandboxes. */
function annotationsOf(pod: Pod, clock: Clock): Record<string, string> {
  if (annotationOf(pod, sourceAnnotation) !== undefined) return {};
  return { [sourceAnnotation]: 'api', [firstObservedAnnotation]: new Date(clock.now()).toISOString() };
}

/** A sandbox that nobody needs any more may take so long yet: the runtime undoes one that was given up, which is not quicker. */
const giveUpMs = 5000;

/** Aborts so long after `signal` has, unless it is disposed of before. */
function abortedLater(signal: AbortSignal, ms: number, clock: Clock): Disposable & { signal: AbortSignal } {
  const later = new AbortController();
  const settled = new AbortController();
  const begin = () =>
    void clock.sleep(ms, settled.signal).then(() => {
      if (!settled.signal.aborted) later.abort();
    });
  if (signal.aborted) begin();
  signal.addEventListener('abort', begin, { once: true });
  return {
    signal: later.signal,
    [Symbol.dispose]() {
      settled.abort(noReason);
      signal.removeEventListener('abort', begin);
    },
  };
}

async function unlessAborted<T>(waiting: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([waiting, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
