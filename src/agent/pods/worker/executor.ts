import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pod } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import { describeError } from '../../../base/index.ts';
import { sandboxConfig } from '../../containers/index.ts';
import {
  containerLogPath,
  cutToBytes,
  messageBytesOf,
  podLogFolder,
  readTerminationMessage,
  removePodLogs,
} from '../logs/index.ts';
import { annotationOf, firstObservedAnnotation, fullName, sourceAnnotation } from '../names.ts';
import type { StopStep } from '../plan/index.ts';
import type { ContainerView, PodView } from '../view/types.ts';
import { ContainerStarter } from './container-starter.ts';
import { runHook } from './hooks.ts';
import { findContainer, ipOf, namesOf, podFolder } from './pod-names.ts';
import type { Executor, ExecutorOptions, StartOutcome, StartWork } from './types.ts';

/** Carries out the steps of plans through the runtime, the disk and the cgroups of this node. */
export class NodeExecutor implements Executor {
  readonly #options: ExecutorOptions;
  readonly #starter: ContainerStarter;

  constructor(options: ExecutorOptions) {
    this.#options = options;
    this.#starter = new ContainerStarter(options);
  }

  async prepare(pod: Pod, signal: AbortSignal): Promise<void> {
    const { rootDir, logsDir, cgroups } = this.#options;
    await mkdir(join(rootDir, 'pods'), { recursive: true, mode: 0o750 });
    await mkdir(podFolder(rootDir, pod), { recursive: true, mode: 0o750 });
    await mkdir(podLogFolder(logsDir, namesOf(pod)), { recursive: true, mode: 0o755 });
    await (await unlessAborted(cgroups(), signal)).make(pod);
  }

  async runSandbox(pod: Pod, attempt: number, signal: AbortSignal): Promise<void> {
    const { calls, logsDir, cgroups, teller, node, clock } = this.#options;
    const { config, warnings } = sandboxConfig({
      pod,
      attempt,
      annotations: annotationsOf(pod, clock),
      logFolder: podLogFolder(logsDir, namesOf(pod)),
      cgroupParent: (await cgroups()).parentOf(pod),
      userIds: this.#options.userIdsOf(pod),
      node: node(),
    });
    for (const { reason, message } of warnings) teller.event(pod, { type: 'Warning', reason, message });
    const handler = await this.#options.handlerOf(pod);
    try {
      using _slot = await this.#options.enter(pod, signal);
      await calls.runSandbox(config, handler); // never given up half way: it may hold an address
    } catch (error) {
      await this.#removeFailedSandbox(pod, attempt);
      throw error;
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

  async stopSandbox(_pod: Pod, sandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#options.calls.stopSandbox(sandboxId, signal);
  }

  async removeSandbox(sandboxId: string, signal: AbortSignal): Promise<void> {
    await this.#options.calls.removeSandbox(sandboxId, signal);
  }

  async start(work: StartWork, signal: AbortSignal): Promise<StartOutcome> {
    return await this.#starter.start(work, signal);
  }

  async stop(pod: Pod, step: StopStep, view: PodView | undefined, signal: AbortSignal): Promise<void> {
    const { calls, teller, clock } = this.#options;
    const { container, containerId, graceSeconds } = step;
    const startedMs = clock.monotonicMs();
    teller.event(pod, { type: 'Normal', reason: 'Killing', message: step.message }, container);
    await this.#options.afterCheckpoint(containerId, signal);
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
    const place = { containerId: step.containerId, container: spec, podIp: ipOf(view) };
    const ended = new AbortController();
    const late = new AbortController();
    void clock.sleep(step.graceSeconds * 1000, ended.signal).then(() => late.abort());
    try {
      const until = AbortSignal.any([signal, late.signal]);
      await runHook(handler, place, { calls, clock }, step.graceSeconds, until);
    } catch (error) {
      if (signal.aborted) throw error;
      log.debug(`pod ${fullName(pod)}: preStop of ${step.container}: ${describeError(error)}`);
      const message = `PreStopHook of container ${step.container} failed`;
      teller.event(pod, { type: 'Warning', reason: 'FailedPreStopHook', message }, step.container);
    } finally {
      ended.abort();
    }
  }

  async removeContainer(containerId: string, signal: AbortSignal): Promise<void> {
    await this.#options.calls.removeContainer(containerId, signal);
  }

  async release(pod: Pod): Promise<void> {
    const { volumes, madeCgroups, releaseDevices } = this.#options;
    const { uid, namespace, name } = namesOf(pod);
    await volumes.release({ uid, namespace, name });
    await releaseDevices(uid);
    await madeCgroups()?.remove(uid);
  }

  async forget(pod: Pod): Promise<void> {
    const { rootDir, logsDir } = this.#options;
    await rm(podFolder(rootDir, pod), { recursive: true, force: true });
    await removePodLogs(logsDir, namesOf(pod));
  }

  async messageOf(pod: Pod, container: ContainerView): Promise<string> {
    const { rootDir, logsDir } = this.#options;
    const message = await readTerminationMessage({
      file: this.#starter.messageFileOf(rootDir, pod, container.name, container.attempt),
      policy: findContainer(pod, container.name)?.terminationMessagePolicy ?? 'File',
      logPath:
        container.logPath || containerLogPath(logsDir, namesOf(pod), container.name, container.attempt),
      exitCode: container.exitCode,
    });
    return cutToBytes(message, messageBytesOf(countContainers(pod)));
  }
}

/** As the reference: a runtime needs so long to tell a process that ends from one that hangs. */
const minimumStopSeconds = 2;

/** Where a pod of the API comes from, and when it was taken up, as the reference writes it on sandboxes. */
function annotationsOf(pod: Pod, clock: Clock): Record<string, string> {
  if (annotationOf(pod, sourceAnnotation) !== undefined) return {};
  return { [sourceAnnotation]: 'api', [firstObservedAnnotation]: new Date(clock.now()).toISOString() };
}

function countContainers({ spec }: Pod): number {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  return containers.length + initContainers.length + ephemeralContainers.length;
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
