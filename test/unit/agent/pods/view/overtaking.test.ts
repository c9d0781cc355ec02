/** Lists, statuses and events overtake each other at random; the view must come to what the runtime has, and never go back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Moment } from '../../../../../src/agent/pods/view/entries.ts';
import type { Listed } from '../../../../../src/agent/pods/view/pod-table.ts';
import { PodTable } from '../../../../../src/agent/pods/view/pod-table.ts';
import type { ContainerView } from '../../../../../src/agent/pods/view/types.ts';
import type {
  ContainerEventResponse,
  ContainerEventType,
} from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { ContainerState, PodSandboxState } from '../../../../../src/agent/runtime/gen/cri_pb.js';
import { FakeCalls, sandboxStatus, types } from './fake-calls.ts';

const progress: Readonly<Record<ContainerView['state'], number>> = {
  created: 0,
  running: 1,
  unknown: 1,
  exited: 2,
};

/** Mulberry32. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

interface Query {
  readonly moment: Moment;
  readonly podUid: string | undefined;
  listed: Listed | undefined;
}

class Storm {
  readonly table = new PodTable();
  readonly #runtime = new FakeCalls();
  readonly #random: (below: number) => number;
  readonly #states = new Map<string, ContainerView['state']>();
  readonly #gone = new Set<string>();
  /** Made by the runtime's threads, and not yet sent. */
  readonly #events: ContainerEventResponse[] = [];
  readonly #stream: ContainerEventResponse[] = [];
  readonly #queries: Query[] = [];
  readonly #reads: (() => void)[] = [];
  #order = 0;
  #nowMs = 1_000_000;
  #made = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  async step(): Promise<void> {
    this.#nowMs += 1;
    const kinds = [
      () => this.#change(),
      () => this.#send(),
      () => this.#deliver(),
      () => this.#ask(),
      () => this.#answer(),
      () => this.#reads.splice(this.#random(Math.max(1, this.#reads.length)), 1)[0]?.(),
    ];
    await kinds[this.#random(kinds.length)]?.();
    this.#check();
  }

  /** Everything under way arrives. */
  async settle(): Promise<void> {
    while (this.#events.length > 0) this.#send();
    while (this.#stream.length > 0) this.#deliver();
    while (this.#queries.length > 0) await this.#answer();
    for (const read of this.#reads.splice(0)) read();
    this.#check();
  }

  async relist(): Promise<void> {
    this.#queries.push({ moment: this.#moment(), podUid: undefined, listed: undefined });
    await this.settle();
  }

  truth(): Map<string, ContainerState> {
    return new Map([...this.#runtime.containers].map(([id, { status }]) => [id, status.state]));
  }

  view(): Map<string, ContainerState> {
    const codes = { created: 0, running: 1, exited: 2, unknown: 3 };
    const containers = this.table.pods().flatMap((pod) => pod.containers);
    return new Map(containers.map(({ id, state }) => [id, codes[state]]));
  }

  sandboxes(): { truth: string[]; view: string[] } {
    const isReady = (state: PodSandboxState) => state === PodSandboxState.SANDBOX_READY;
    return {
      truth: [...this.#runtime.sandboxes.values()].map(({ id, state }) => `${id} ${isReady(state)}`).sort(),
      view: this.table
        .pods()
        .flatMap((pod) => pod.sandboxes.map((each) => `${each.id} ${each.isReady}`))
        .sort(),
    };
  }

  #moment(): Moment {
    this.#order += 1;
    return { order: this.#order, atMs: this.#nowMs };
  }

  #change(): void {
    const { sandboxes, containers } = this.#runtime;
    const uid = `p${this.#random(4)}`;
    const sandboxId = `s-${uid}`;
    const ofPod = [...containers].filter(([, each]) => each.sandboxId === sandboxId);
    const [id, container] = ofPod[this.#random(Math.max(1, ofPod.length))] ?? [];
    if (!sandboxes.has(sandboxId)) {
      if (this.#gone.has(sandboxId)) return;
      sandboxes.set(sandboxId, sandboxStatus(sandboxId, uid));
      this.#emit(sandboxId, sandboxId, types.CONTAINER_STARTED_EVENT);
    } else if (this.#random(12) === 0 && ofPod.length === 0) {
      sandboxes.delete(sandboxId);
      this.#gone.add(sandboxId);
      this.#emit(sandboxId, sandboxId, types.CONTAINER_DELETED_EVENT);
    } else if (id === undefined || container === undefined || this.#random(3) === 0) {
      this.#made += 1;
      const made = `c${this.#made}`;
      this.#runtime.addContainer(made, uid, { state: ContainerState.CONTAINER_CREATED });
      this.#emit(made, sandboxId, types.CONTAINER_CREATED_EVENT);
    } else if (container.status.state === ContainerState.CONTAINER_CREATED) {
      this.#runtime.addContainer(id, uid, { state: ContainerState.CONTAINER_RUNNING });
      this.#emit(id, sandboxId, types.CONTAINER_STARTED_EVENT);
    } else if (container.status.state === ContainerState.CONTAINER_RUNNING) {
      this.#runtime.exit(id, this.#random(3));
      this.#emit(id, sandboxId, types.CONTAINER_STOPPED_EVENT);
    } else {
      containers.delete(id);
      this.#emit(id, sandboxId, types.CONTAINER_DELETED_EVENT);
    }
  }

  #emit(id: string, sandboxId: string, type: ContainerEventType): void {
    this.#events.push(this.#runtime.event(id, sandboxId, type, 0));
  }

  /** Threads of the runtime overtake each other between reading a state and sending it. */
  #send(): void {
    const [event] = this.#events.splice(this.#random(Math.max(1, Math.min(3, this.#events.length))), 1);
    if (event !== undefined) this.#stream.push({ ...event, createdAt: BigInt(this.#nowMs) });
  }

  #deliver(): void {
    const event = this.#stream.shift();
    if (event === undefined) return;
    this.table.applyEvent(event, { ...this.#moment(), atMs: Number(event.createdAt) });
  }

  #ask(): void {
    const podUid = this.#random(2) === 0 ? undefined : `p${this.#random(4)}`;
    this.#queries.push({ moment: this.#moment(), podUid, listed: undefined });
  }

  /** In two steps: the runtime makes the answer, and it arrives. */
  async #answer(): Promise<void> {
    const index = this.#random(Math.max(1, this.#queries.length));
    const query = this.#queries[index];
    if (query === undefined) return;
    if (query.listed === undefined) {
      const { podUid } = query;
      const [sandboxes, containers] = await Promise.all([
        this.#runtime.listSandboxes(podUid),
        this.#runtime.listContainers(podUid),
      ]);
      query.listed = { sandboxes, containers };
      return;
    }
    this.#queries.splice(index, 1);
    const { listed, moment, podUid } = query;
    const options = podUid === undefined ? {} : { podUid, whole: true };
    for (const toRead of this.table.applyList(listed, moment, options)) {
      for (const { id } of toRead.sandboxes) this.#read(id);
      for (const { id, podSandboxId } of toRead.containers) this.#read(id, podSandboxId);
    }
  }

  #read(id: string, sandboxId?: string): void {
    const moment = this.#moment();
    const sandbox = this.#runtime.sandboxes.get(id);
    const status = this.#runtime.containers.get(id)?.status;
    this.#reads.push(() => {
      if (sandbox !== undefined) this.table.putSandbox(sandbox, moment);
      else if (status !== undefined && sandboxId !== undefined)
        this.table.putContainer(status, sandboxId, moment);
      else this.table.remove(id, moment);
    });
  }

  /** No container goes back, and none comes back. */
  #check(): void {
    const now = new Map(
      this.table.pods().flatMap((pod) => pod.containers.map(({ id, state }) => [id, state] as const)),
    );
    for (const [id, state] of now) {
      const before = this.#states.get(id);
      assert.ok(!this.#gone.has(id), `${id} has come back`);
      assert.ok(before === undefined || progress[state] >= progress[before], `${id}: ${before} to ${state}`);
      this.#states.set(id, state);
    }
    for (const id of this.#states.keys()) if (!now.has(id)) this.#gone.add(id);
  }
}

test('answers and events that overtake each other come to what the runtime has', async () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const storm = new Storm(seed);
    await storm.relist();
    for (let count = 0; count < 600; count += 1) await storm.step();
    await storm.settle();
    await storm.relist();
    assert.deepEqual([...storm.view()].sort(), [...storm.truth()].sort(), `seed ${seed}`);
    const { truth, view } = storm.sandboxes();
    assert.deepEqual(view, truth, `seed ${seed}`);
  }
});
