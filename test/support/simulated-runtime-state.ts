import { create } from '@bufbuild/protobuf';
import type { PodView } from '../../src/agent/pods/view/types.ts';
import type { ContainerEventResponse } from '../../src/agent/runtime/gen/cri_pb.js';
import {
  ContainerEventResponseSchema,
  ContainerEventType,
  NamespaceMode,
} from '../../src/agent/runtime/gen/cri_pb.js';
import type { ContainerConfig, SandboxConfig } from '../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../src/agent/runtime/index.ts';
import type { Clock } from '../../src/base/index.ts';
import type { SimulatedContainer, SimulatedSandbox } from './simulated-runtime-messages.ts';
import { toContainerStatus, toGiven, toPodView, toSandboxStatus } from './simulated-runtime-messages.ts';

/** What the process of a container does. */
export interface Behaviour {
  /** It ends by itself after this time; undefined: it runs on. */
  readonly exitAfterMs?: number;
  /** Default 0. */
  readonly exitCode?: number;
  /** Such as `OOMKilled`; default `Completed` or `Error`, by the exit code. */
  readonly reason?: string;
  /** It ends this long after a TERM, default at once; `never`: it is killed when its grace is over. */
  readonly obeysAfterMs?: number | 'never';
  /** What it ends with then; default 143. */
  readonly obeysWith?: number;
  /** It cannot be started. */
  readonly startError?: string;
}

/** Decides what a container does each time it starts. */
export type Behaviours = (container: { name: string; attempt: number; podUid: string }) => Behaviour;

const { CONTAINER_CREATED_EVENT, CONTAINER_STARTED_EVENT, CONTAINER_STOPPED_EVENT, CONTAINER_DELETED_EVENT } =
  ContainerEventType;

/** The sandboxes and containers of a simulated runtime, and what happens to them. */
export class SimulatedState {
  readonly sandboxes = new Map<string, SimulatedSandbox>();
  readonly containers = new Map<string, SimulatedContainer>();
  /** What must never be, such as two containers of one name that run together. */
  readonly violations: string[] = [];
  readonly listeners = new Set<(event: ContainerEventResponse) => void>();
  readonly #clock: Clock;
  readonly #behaviours: Behaviours;
  /** Names in use, with the id that has them. */
  readonly #reserved = new Map<string, string>();
  readonly #ends = new Map<string, { readonly promise: Promise<void>; resolve(): void }>();
  #count = 0;

  constructor(clock: Clock, behaviours: Behaviours) {
    this.#clock = clock;
    this.#behaviours = behaviours;
  }

  /** Takes the name, or throws as containerd does. Returns the id for who has it. */
  reserve(what: 'sandbox' | 'container', name: string): string {
    const owner = this.#reserved.get(name);
    if (owner !== undefined) {
      const text = `failed to reserve ${what} name "${name}": name "${name}" is reserved for "${owner}"`;
      throw new RuntimeError('failed', text);
    }
    this.#count += 1;
    const id = `${what}-${this.#count}`;
    this.#reserved.set(name, id);
    return id;
  }

  release(name: string): void {
    this.#reserved.delete(name);
  }

  view(podUid: string): PodView | undefined {
    return toPodView(
      [...this.sandboxes.values()].filter(({ config }) => config.metadata?.uid === podUid),
      [...this.containers.values()].filter((each) => this.podOf(each).uid === podUid),
    );
  }

  podOf({ sandboxId }: SimulatedContainer): { name: string; namespace: string; uid: string } {
    const { name = '', namespace = '', uid = '' } = this.sandboxes.get(sandboxId)?.config.metadata ?? {};
    return { name, namespace, uid };
  }

  addSandbox(id: string, name: string, config: SandboxConfig, handler: string): void {
    const isHost = config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
    const ips = isHost ? [] : [`10.0.${(this.#count >> 8) & 255}.${this.#count & 255}`];
    const createdMs = this.#clock.now();
    this.sandboxes.set(id, { id, name, config, handler, createdMs, isReady: true, hasNetwork: !isHost, ips });
    this.emit(id, id, CONTAINER_STARTED_EVENT);
  }

  stopSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return;
    for (const container of this.containers.values()) {
      if (container.sandboxId === id && container.state === 'running') this.end(container, 137, 'Error');
    }
    const wasReady = sandbox.isReady;
    Object.assign(sandbox, { isReady: false, hasNetwork: false, ips: [] });
    if (wasReady) this.emit(id, id, CONTAINER_STOPPED_EVENT);
  }

  removeSandbox(id: string): void {
    const sandbox = this.sandboxes.get(id);
    if (sandbox === undefined) return;
    if (sandbox.isReady) this.stopSandbox(id);
    if (sandbox.hasNetwork)
      throw new RuntimeError('failed', `the network namespace of ${id} is not fully closed`);
    for (const container of this.containers.values()) {
      if (container.sandboxId === id) this.removeContainer(container);
    }
    this.sandboxes.delete(id);
    this.release(sandbox.name);
    this.emit(id, id, CONTAINER_DELETED_EVENT);
  }

  addContainer(id: string, name: string, sandboxId: string, config: ContainerConfig): void {
    const times = { createdMs: this.#clock.now(), startedMs: undefined, finishedMs: undefined };
    const end = { exitCode: 0, reason: '', message: '' };
    const resources = toGiven(config.linux?.resources ?? {});
    this.containers.set(id, { id, name, sandboxId, config, resources, state: 'created', ...times, ...end });
    this.#ends.set(id, Promise.withResolvers<void>());
    this.emit(sandboxId, id, CONTAINER_CREATED_EVENT);
  }

  start(container: SimulatedContainer): void {
    const { id, sandboxId, state } = container;
    if (state !== 'created') throw new RuntimeError('failed', `container ${id} is in state ${state}`);
    const { startError, exitAfterMs, exitCode = 0, reason } = this.#behaviourOf(container);
    const error =
      this.sandboxes.get(sandboxId)?.isReady === true ? startError : `sandbox ${sandboxId} is not running`;
    if (error !== undefined) {
      this.end(container, 128, 'StartError', error);
      throw new RuntimeError('failed', error);
    }
    this.#checkAlone(container);
    Object.assign(container, { state: 'running', startedMs: this.#clock.now() });
    this.emit(sandboxId, id, CONTAINER_STARTED_EVENT);
    if (exitAfterMs !== undefined) this.#endLater(container, exitAfterMs, exitCode, reason);
  }

  /** Resolves when it has ended. */
  async stop(container: SimulatedContainer, graceSeconds: number): Promise<void> {
    const { id, state } = container;
    if (state === 'exited') return;
    if (state !== 'running') return this.end(container, 255, 'Unknown');
    const { obeysAfterMs = 0, obeysWith = 143 } = this.#behaviourOf(container);
    if (graceSeconds <= 0) this.end(container, 137, 'Error');
    else if (obeysAfterMs === 0) this.end(container, obeysWith, undefined);
    else {
      this.#endLater(container, graceSeconds * 1000, 137);
      if (obeysAfterMs !== 'never') this.#endLater(container, obeysAfterMs, obeysWith);
    }
    await this.#ends.get(id)?.promise;
  }

  removeContainer(container: SimulatedContainer): void {
    if (container.state === 'running') this.end(container, 137, 'Error');
    this.containers.delete(container.id);
    this.release(container.name);
    this.#ends.get(container.id)?.resolve();
    this.#ends.delete(container.id);
    this.emit(container.sandboxId, container.id, CONTAINER_DELETED_EVENT);
  }

  end(container: SimulatedContainer, exitCode: number, reason: string | undefined, message = ''): void {
    if (container.state === 'exited') return;
    const cause = reason ?? (exitCode === 0 ? 'Completed' : 'Error');
    Object.assign(container, {
      state: 'exited',
      finishedMs: this.#clock.now(),
      exitCode,
      reason: cause,
      message,
    });
    this.#ends.get(container.id)?.resolve();
    this.emit(container.sandboxId, container.id, CONTAINER_STOPPED_EVENT);
  }

  emit(sandboxId: string, containerId: string, containerEventType: ContainerEventType): void {
    if (this.listeners.size === 0) return;
    const sandbox = this.sandboxes.get(sandboxId);
    const containers = [...this.containers.values()].filter((each) => each.sandboxId === sandboxId);
    const event = create(ContainerEventResponseSchema, {
      containerId,
      containerEventType,
      createdAt: BigInt(this.#clock.now()) * 1_000_000n,
      containersStatuses: containers.map(toContainerStatus),
      ...(sandbox === undefined ? {} : { podSandboxStatus: toSandboxStatus(sandbox) }),
    });
    for (const listener of this.listeners) listener(event);
  }

  #endLater(container: SimulatedContainer, afterMs: number, exitCode: number, reason?: string): void {
    void this.#clock.sleep(afterMs).then(() => this.end(container, exitCode, reason));
  }

  #behaviourOf(container: SimulatedContainer): Behaviour {
    const { name = '', attempt = 0 } = container.config.metadata ?? {};
    return this.#behaviours({ name, attempt, podUid: this.podOf(container).uid });
  }

  #checkAlone(container: SimulatedContainer): void {
    const { uid } = this.podOf(container);
    const name = container.config.metadata?.name;
    for (const other of this.containers.values()) {
      if (other === container || other.state !== 'running' || other.config.metadata?.name !== name) continue;
      if (this.podOf(other).uid === uid)
        this.violations.push(`${other.id} and ${container.id} of ${name} run together`);
    }
  }
}
