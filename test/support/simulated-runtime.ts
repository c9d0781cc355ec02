/**
 * A container runtime in memory, on the clock of the test. It behaves as containerd where pods need it: names are reserved by
 * attempt; a call that the caller gave up goes on; a container may be made in a sandbox that has ended; when a sandbox's own
 * process ends, its containers run on and its network is held.
 */
import type { PodView } from '../../src/agent/pods/view/types.ts';
import type { ContainerEventResponse } from '../../src/agent/runtime/gen/cri_pb.js';
import { ContainerEventType } from '../../src/agent/runtime/gen/cri_pb.js';
import type {
  ContainerConfig,
  LinuxResources,
  PodCalls,
  SandboxConfig,
} from '../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../src/agent/runtime/index.ts';
import type { Clock } from '../../src/base/index.ts';
import type { Fault, SimulatedCall } from './simulated-runtime-faults.ts';
import { Faults } from './simulated-runtime-faults.ts';
import type { SimulatedContainer, SimulatedSandbox } from './simulated-runtime-messages.ts';
import {
  toContainerStatus,
  toGiven,
  toListedContainer,
  toListedSandbox,
  toSandboxStatus,
} from './simulated-runtime-messages.ts';
import type { Behaviours } from './simulated-runtime-state.ts';
import { SimulatedState } from './simulated-runtime-state.ts';

export interface SimulatedRuntimeOptions {
  readonly clock: Clock;
  /** Default: every container runs on, and ends at once when it gets a TERM. */
  readonly behaviours?: Behaviours;
}

type Labels = Readonly<Record<string, string>> | undefined;

export class SimulatedRuntime implements PodCalls {
  /** The names of the calls, in order. */
  readonly calls: SimulatedCall[] = [];
  readonly #faults = new Faults();
  readonly #state: SimulatedState;

  constructor({ clock, behaviours = () => ({}) }: SimulatedRuntimeOptions) {
    this.#state = new SimulatedState(clock, behaviours);
  }

  /** Makes the next calls fail or hang; returns what lets hanging ones go on. */
  fault(fault: Fault): () => void {
    return this.#faults.add(fault);
  }

  /** Forgets all faults, and lets hanging calls go on. */
  clearFaults(): void {
    this.#faults.clear();
  }

  /** What a view would have of the pod now; undefined: nothing. */
  podView(uid: string): PodView | undefined {
    return this.#state.view(uid);
  }

  /** What must never be, such as two containers of one name that run together; empty when all is well. */
  get violations(): readonly string[] {
    return this.#state.violations;
  }

  sandboxes(): readonly SimulatedSandbox[] {
    return [...this.#state.sandboxes.values()];
  }

  containers(): readonly SimulatedContainer[] {
    return [...this.#state.containers.values()];
  }

  /** The running container of that name, in whichever pod. */
  running(name: string): SimulatedContainer | undefined {
    return this.containers().find(
      ({ state, config }) => state === 'running' && config.metadata?.name === name,
    );
  }

  /** Ends a container, as if by itself. */
  exit(id: string, exitCode: number, reason?: string): void {
    const container = this.#state.containers.get(id);
    if (container !== undefined) this.#state.end(container, exitCode, reason);
  }

  /** The sandbox's own process dies. */
  killSandbox(id: string): void {
    const sandbox = this.#state.sandboxes.get(id);
    if (sandbox === undefined || !sandbox.isReady) return;
    Object.assign(sandbox, { isReady: false, ips: [] });
    this.#state.emit(id, id, ContainerEventType.CONTAINER_STOPPED_EVENT);
  }

  /** Another program removes a container, running or not. */
  lose(id: string): void {
    const container = this.#state.containers.get(id);
    if (container !== undefined) this.#state.removeContainer(container);
  }

  /** The machine restarts: nothing runs any more, and nobody saw how it ended. */
  reboot(): void {
    for (const container of this.containers()) {
      if (container.state === 'running') this.#state.end(container, 255, 'Unknown');
    }
    for (const { id } of this.sandboxes()) this.killSandbox(id);
  }

  async runSandbox(config: SandboxConfig, handler: string, cancel?: AbortSignal): Promise<string> {
    const { name = '', namespace = '', uid = '', attempt = 0 } = config.metadata ?? {};
    const fullName = `${name}_${namespace}_${uid}_${attempt}`;
    return await this.#make('runSandbox', 'sandbox', fullName, cancel, (id) => {
      this.#state.addSandbox(id, fullName, config, handler);
    });
  }

  async stopSandbox(id: string, cancel?: AbortSignal): Promise<void> {
    await this.#run('stopSandbox', cancel, () => this.#state.stopSandbox(id));
  }

  async removeSandbox(id: string, cancel?: AbortSignal): Promise<void> {
    await this.#run('removeSandbox', cancel, () => this.#state.removeSandbox(id));
  }

  async createContainer(
    sandboxId: string,
    config: ContainerConfig,
    _sandbox: SandboxConfig,
    cancel?: AbortSignal,
  ): Promise<string> {
    const pod = this.#state.sandboxes.get(sandboxId)?.config.metadata;
    if (pod === undefined) throw new RuntimeError('notFound', `sandbox ${sandboxId} not found`);
    const { name = '', attempt = 0 } = config.metadata ?? {};
    const fullName = `${name}_${pod.name}_${pod.namespace}_${pod.uid}_${attempt}`;
    return await this.#make('createContainer', 'container', fullName, cancel, (id) => {
      this.#state.addContainer(id, fullName, sandboxId, config);
    });
  }

  async startContainer(id: string, cancel?: AbortSignal): Promise<void> {
    await this.#run('startContainer', cancel, () => this.#state.start(this.#find(id)));
  }

  async stopContainer(id: string, graceSeconds: number, cancel?: AbortSignal): Promise<void> {
    await this.#run('stopContainer', cancel, async () => {
      const container = this.#state.containers.get(id);
      if (container !== undefined) await this.#state.stop(container, graceSeconds);
    });
  }

  async removeContainer(id: string, cancel?: AbortSignal): Promise<void> {
    await this.#run('removeContainer', cancel, () => {
      const container = this.#state.containers.get(id);
      if (container !== undefined) this.#state.removeContainer(container);
    });
  }

  async execSync(
    id: string,
    _command: readonly string[],
    _timeoutSeconds: number,
    cancel?: AbortSignal,
  ): Promise<{ stdout: Uint8Array; stderr: Uint8Array; exitCode: number }> {
    return await this.#run('execSync', cancel, () => {
      this.#findRunning(id);
      return { stdout: new Uint8Array(), stderr: new Uint8Array(), exitCode: 0 };
    });
  }

  async reopenLog(id: string): Promise<void> {
    await this.#run('reopenLog', undefined, () => this.#findRunning(id));
  }

  async updateResources(id: string, resources: LinuxResources): Promise<void> {
    await this.#run('updateResources', undefined, () => {
      const container = this.#findRunning(id);
      container.resources = { ...container.resources, ...toGiven(resources) };
    });
  }

  async listSandboxes(podUid?: string, cancel?: AbortSignal): ReturnType<PodCalls['listSandboxes']> {
    return await this.#run('listSandboxes', cancel, () =>
      this.sandboxes()
        .filter(({ config }) => isOf(podUid, config.labels))
        .map(toListedSandbox),
    );
  }

  async listContainers(podUid?: string, cancel?: AbortSignal): ReturnType<PodCalls['listContainers']> {
    return await this.#run('listContainers', cancel, () =>
      this.containers()
        .filter(({ config }) => isOf(podUid, config.labels))
        .map(toListedContainer),
    );
  }

  async sandboxStatus(id: string, cancel?: AbortSignal): ReturnType<PodCalls['sandboxStatus']> {
    return await this.#run('sandboxStatus', cancel, () => {
      const sandbox = this.#state.sandboxes.get(id);
      return sandbox && toSandboxStatus(sandbox);
    });
  }

  async containerStatus(id: string, cancel?: AbortSignal): ReturnType<PodCalls['containerStatus']> {
    return await this.#run('containerStatus', cancel, () => {
      const container = this.#state.containers.get(id);
      return container && toContainerStatus(container);
    });
  }

  async *events(cancel: AbortSignal): AsyncIterable<ContainerEventResponse> {
    const queue: ContainerEventResponse[] = [];
    let arrival = Promise.withResolvers<void>();
    const listener = (event: ContainerEventResponse) => {
      queue.push(event);
      arrival.resolve();
    };
    const end = () => arrival.resolve();
    this.#state.listeners.add(listener);
    cancel.addEventListener('abort', end, { once: true });
    try {
      while (!cancel.aborted) {
        for (const event of queue.splice(0)) yield event;
        await arrival.promise;
        arrival = Promise.withResolvers<void>();
        if (cancel.aborted) return;
      }
    } finally {
      this.#state.listeners.delete(listener);
      cancel.removeEventListener('abort', end);
    }
  }

  async #run<T>(
    call: SimulatedCall,
    cancel: AbortSignal | undefined,
    effect: () => T | Promise<T>,
  ): Promise<T> {
    this.calls.push(call);
    return await this.#faults.run(call, effect, cancel);
  }

  /** The name is in use from the call on, also while it hangs; it is free again when the call fails without an effect. */
  async #make(
    call: 'runSandbox' | 'createContainer',
    what: 'sandbox' | 'container',
    name: string,
    cancel: AbortSignal | undefined,
    effect: (id: string) => void,
  ): Promise<string> {
    const id = this.#state.reserve(what, name);
    const isMade = () => this.#state.sandboxes.has(id) || this.#state.containers.has(id);
    try {
      return await this.#run(call, cancel, () => {
        effect(id);
        return id;
      });
    } catch (error) {
      const goesOn = error instanceof RuntimeError && error.reason === 'cancelled';
      if (!goesOn && !isMade()) this.#state.release(name);
      throw error;
    }
  }

  #find(id: string): SimulatedContainer {
    const container = this.#state.containers.get(id);
    if (container === undefined) throw new RuntimeError('notFound', `container ${id} not found`);
    return container;
  }

  #findRunning(id: string): SimulatedContainer {
    const container = this.#find(id);
    if (container.state === 'running') return container;
    throw new RuntimeError('failed', 'container is not running');
  }
}

function isOf(podUid: string | undefined, labels: Labels): boolean {
  return podUid === undefined || labels?.['io.kubernetes.pod.uid'] === podUid;
}
