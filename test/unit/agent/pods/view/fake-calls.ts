import { create } from '@bufbuild/protobuf';
import type { ViewCalls } from '../../../../../src/agent/pods/view/pod-reader.ts';
import type {
  ContainerEventResponse,
  ContainerStatus,
  PodSandboxStatus,
} from '../../../../../src/agent/runtime/gen/cri_pb.js';
import {
  ContainerEventResponseSchema,
  ContainerEventType,
  ContainerSchema,
  ContainerState,
  ContainerStatusSchema,
  PodSandboxSchema,
  PodSandboxState,
  PodSandboxStatusSchema,
} from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';

type Fields<T> = Omit<T, '$typeName' | '$unknown'>;
export type SandboxChanges = Partial<Fields<PodSandboxStatus>>;
export type ContainerChanges = Partial<Fields<ContainerStatus>>;

export const labelsOf = (uid: string) => ({
  'io.kubernetes.pod.uid': uid,
  'io.kubernetes.pod.name': `name-${uid}`,
  'io.kubernetes.pod.namespace': 'default',
});

export function sandboxStatus(id: string, uid: string, changes: SandboxChanges = {}) {
  return create(PodSandboxStatusSchema, {
    id,
    metadata: { name: `name-${uid}`, uid, namespace: 'default', attempt: 0 },
    state: PodSandboxState.SANDBOX_READY,
    createdAt: 1_000_000n,
    network: { ip: '10.0.0.1' },
    labels: labelsOf(uid),
    ...changes,
  });
}

export function containerStatus(id: string, uid: string, changes: ContainerChanges = {}) {
  return create(ContainerStatusSchema, {
    id,
    metadata: { name: 'main', attempt: 0 },
    state: ContainerState.CONTAINER_RUNNING,
    createdAt: 2_000_000n,
    startedAt: 3_000_000n,
    image: { image: 'busybox' },
    labels: labelsOf(uid),
    ...changes,
  });
}

interface Container {
  readonly sandboxId: string;
  status: ContainerStatus;
}

/** A runtime of which a test changes what it has. Events are sent only by `send`. */
export class FakeCalls implements ViewCalls {
  readonly sandboxes = new Map<string, PodSandboxStatus>();
  readonly containers = new Map<string, Container>();
  /** The calls so far, such as `list`, `list UID`, `status c1`. */
  readonly log: string[] = [];
  /** Ids whose status never comes; `list` for lists. */
  readonly hanging = new Set<string>();
  /** What lists fail with. */
  failure: RuntimeError | undefined;
  hasEvents = true;
  #streams = new Set<(event: ContainerEventResponse | RuntimeError) => void>();

  get subscribers(): number {
    return this.#streams.size;
  }

  addPod(uid: string, changes: ContainerChanges = {}): void {
    this.sandboxes.set(`s-${uid}`, sandboxStatus(`s-${uid}`, uid));
    this.addContainer(`c-${uid}`, uid, changes);
  }

  addContainer(id: string, uid: string, changes: ContainerChanges = {}): void {
    this.containers.set(id, { sandboxId: `s-${uid}`, status: containerStatus(id, uid, changes) });
  }

  exit(id: string, exitCode: number): void {
    const container = this.containers.get(id);
    if (container === undefined) throw new Error(`no container ${id}`);
    const ended = { state: ContainerState.CONTAINER_EXITED, exitCode, finishedAt: 9_000_000n };
    container.status = create(ContainerStatusSchema, { ...container.status, ...ended });
  }

  /** An event as the runtime would make it now, of the pod's state now. */
  event(id: string, sandboxId: string, type: ContainerEventType, atMs: number): ContainerEventResponse {
    const ofSandbox = [...this.containers.values()].filter((each) => each.sandboxId === sandboxId);
    return create(ContainerEventResponseSchema, {
      containerId: id,
      containerEventType: type,
      createdAt: BigInt(atMs) * 1_000_000n,
      ...(this.sandboxes.has(sandboxId) ? { podSandboxStatus: this.sandboxes.get(sandboxId) } : {}),
      containersStatuses: ofSandbox.map(({ status }) => status),
    });
  }

  send(event: ContainerEventResponse | RuntimeError): void {
    for (const stream of [...this.#streams]) stream(event);
  }

  async listSandboxes(podUid?: string, cancel?: AbortSignal) {
    this.log.push(podUid === undefined ? 'list' : `list ${podUid}`);
    await this.#answer('list', cancel);
    return this.#ofPod([...this.sandboxes.values()], podUid).map(({ $typeName: _, ...status }) =>
      create(PodSandboxSchema, {
        id: status.id,
        metadata: status.metadata,
        state: status.state,
        createdAt: status.createdAt,
        labels: status.labels,
      }),
    );
  }

  async listContainers(podUid?: string, cancel?: AbortSignal) {
    await this.#answer('list', cancel);
    const all = [...this.containers.values()].map(({ sandboxId, status }) =>
      create(ContainerSchema, {
        id: status.id,
        podSandboxId: sandboxId,
        metadata: status.metadata,
        state: status.state,
        createdAt: status.createdAt,
        labels: status.labels,
      }),
    );
    return this.#ofPod(all, podUid);
  }

  async sandboxStatus(id: string, cancel?: AbortSignal) {
    this.log.push(`status ${id}`);
    const now = this.sandboxes.get(id);
    await this.#answer(id, cancel);
    return now;
  }

  async containerStatus(id: string, cancel?: AbortSignal) {
    this.log.push(`status ${id}`);
    const now = this.containers.get(id)?.status;
    await this.#answer(id, cancel);
    return now;
  }

  async *events(cancel: AbortSignal): AsyncGenerator<ContainerEventResponse> {
    if (!this.hasEvents) throw new RuntimeError('unimplemented', 'unknown method GetContainerEvents');
    const waiting: (ContainerEventResponse | RuntimeError)[] = [];
    let wake = (): void => undefined;
    const stream = (event: ContainerEventResponse | RuntimeError) => {
      waiting.push(event);
      wake();
    };
    this.#streams.add(stream);
    try {
      while (!cancel.aborted) {
        for (const event of waiting.splice(0)) {
          if (event instanceof RuntimeError) throw event;
          yield event;
        }
        if (waiting.length > 0) continue;
        await new Promise<void>((resolve) => {
          wake = resolve;
          cancel.addEventListener('abort', () => resolve(), { once: true });
        });
      }
    } finally {
      this.#streams.delete(stream);
    }
  }

  #ofPod<T extends { labels: { [key: string]: string } }>(
    all: readonly T[],
    podUid: string | undefined,
  ): T[] {
    return all.filter(({ labels }) => podUid === undefined || labels['io.kubernetes.pod.uid'] === podUid);
  }

  async #answer(what: string, cancel: AbortSignal | undefined): Promise<void> {
    if (what === 'list' && this.failure !== undefined) throw this.failure;
    if (!this.hanging.has(what)) return;
    await new Promise((_, reject) => {
      cancel?.addEventListener('abort', () => reject(new RuntimeError('cancelled', 'given up')), {
        once: true,
      });
    });
  }
}

export const types = ContainerEventType;
