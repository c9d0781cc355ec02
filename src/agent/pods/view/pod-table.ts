import type {
  ContainerAnswer,
  ListedContainer,
  ListedSandbox,
  PodIdentity,
  RuntimeEvent,
  SandboxAnswer,
} from './convert.ts';
import {
  podOf,
  toContainerView,
  toListedContainerView,
  toListedSandboxView,
  toSandboxView,
  toState,
} from './convert.ts';
import type { Moment, Origin, Progress } from './entries.ts';
import { Entries } from './entries.ts';
import type { ContainerView, PodView, SandboxView } from './types.ts';

/** ContainerEventType of the CRI. */
const deletedEvent = 3;

/** What must be read of one pod, as a list has shown it. */
export interface ToRead {
  readonly podUid: string;
  readonly sandboxes: ListedSandbox[];
  readonly containers: ListedContainer[];
}

export interface Listed {
  readonly sandboxes: readonly ListedSandbox[];
  readonly containers: readonly ListedContainer[];
}

/** Unknown and running may follow each other, since a runtime that starts again may lose sight of a container for a time. */
const containerProgress: Progress<ContainerView> = ({ state }) =>
  ({ created: 0, running: 1, unknown: 1, exited: 2 })[state];

/** One is not ready before its network is, and once it has ended; what was ready is not so again. */
const sandboxProgress: Progress<SandboxView> = ({ isReady }, before) => {
  if (isReady || before === undefined) return 1;
  return before.value.isReady || before.progress === 2 ? 2 : 1;
};

/** Returns a container that has ended with what is known of its end beside what the runtime says; the same for the same end. */
export type WithEnd = (container: ContainerView, podUid: string) => ContainerView;

/** All pods of the runtime, kept from lists, statuses and events. It asks nobody. */
export class PodTable {
  readonly #sandboxes = new Entries<SandboxView>(sandboxProgress);
  readonly #containers = new Entries<ContainerView>(containerProgress);
  readonly #identities = new Map<string, PodIdentity>();
  readonly #views = new Map<string, PodView>();
  readonly #changed = new Set<string>();
  readonly #withEnd: WithEnd;
  /** By the wall clock, when the last list was asked for whose answer is in here. */
  #listedAtMs = 0;

  constructor(withEnd: WithEnd = (container) => container) {
    this.#withEnd = withEnd;
  }

  pod(uid: string): PodView | undefined {
    const known = this.#views.get(uid);
    if (known !== undefined) return known;
    const built = this.#build(uid);
    if (built !== undefined) this.#views.set(uid, built);
    return built;
  }

  pods(): PodView[] {
    const uids = new Set([...this.#sandboxes.podUids(), ...this.#containers.podUids()]);
    return [...uids].flatMap((uid) => this.pod(uid) ?? []);
  }

  /** The uids of the pods that have changed since the last call. */
  takeChanged(): string[] {
    const uids = [...this.#changed];
    this.#changed.clear();
    return uids;
  }

  /**
   * Takes over what a list tells and returns what must be read besides. With `podUid` it is the list of that pod alone;
   * `whole`: all that runs is read again, not only what has changed.
   */
  applyList(listed: Listed, moment: Moment, options: { podUid?: string; whole?: boolean } = {}): ToRead[] {
    const { podUid, whole = false } = options;
    const plan = new Map<string, ToRead>();
    for (const item of listed.sandboxes) {
      const pod = this.#identify(item);
      if (pod === undefined) continue;
      this.#sandboxes.confirm(item.id, moment.order);
      if (this.#mustReadSandbox(item, moment, whole)) planOf(plan, pod.uid).sandboxes.push(item);
    }
    for (const item of listed.containers) {
      const pod = this.#identify(item);
      if (pod === undefined) continue;
      this.#containers.confirm(item.id, moment.order);
      if (this.#mustReadContainer(item, moment, whole)) planOf(plan, pod.uid).containers.push(item);
    }
    for (const id of this.#sandboxes.unseen(moment.order, podUid)) this.#remove(id, moment.order);
    for (const id of this.#containers.unseen(moment.order, podUid)) this.#remove(id, moment.order);
    if (podUid === undefined) {
      this.#listedAtMs = moment.atMs;
      for (const uid of this.#identities.keys())
        if (!plan.has(uid) && this.pod(uid) === undefined) this.#identities.delete(uid);
    }
    return [...plan.values()];
  }

  /**
   * Returns whether the event tells of something that no list has shown though it should have: either it is gone since, or the
   * wall clock was set.
   */
  applyEvent(event: RuntimeEvent, moment: Moment): boolean {
    const { podSandboxStatus: sandbox, containersStatuses, containerId } = event;
    let isPuzzling = false;
    const isFit = (entry: object | undefined, id: string, isGone: boolean) => {
      if (entry !== undefined || isGone || id === '') return !isGone && id !== '';
      if (moment.atMs > this.#listedAtMs) return true;
      isPuzzling = true;
      return false;
    };
    if (event.containerEventType === deletedEvent) this.#remove(containerId, moment.order);
    if (
      sandbox !== undefined &&
      isFit(this.#sandboxes.get(sandbox.id), sandbox.id, this.#sandboxes.isGone(sandbox.id))
    )
      this.putSandbox(sandbox, moment, 'event');
    for (const status of containersStatuses) {
      const known = this.#containers.get(status.id);
      const sandboxId = sandbox?.id ?? known?.value.sandboxId;
      if (sandboxId === undefined) isPuzzling = true;
      else if (isFit(known, status.id, this.#containers.isGone(status.id)))
        this.putContainer(status, sandboxId, moment, 'event');
    }
    return isPuzzling;
  }

  putSandbox(status: SandboxAnswer, moment: Moment, origin: Origin = 'query'): void {
    const pod = this.#identify(status);
    if (pod === undefined) return;
    if (this.#sandboxes.put(pod.uid, toSandboxView(status), moment, origin)) this.#touch(pod.uid);
  }

  putContainer(status: ContainerAnswer, sandboxId: string, moment: Moment, origin: Origin = 'query'): void {
    const pod = this.#identify(status);
    if (pod === undefined) return;
    const stated = toContainerView(status, sandboxId);
    const container = stated.state === 'exited' ? this.#withEnd(stated, pod.uid) : stated;
    if (this.#containers.put(pod.uid, container, moment, origin)) this.#touch(pod.uid);
  }

  /** For what could not be read: nothing that exists is left out. What was known before stays. */
  putUnread({ podUid, sandboxes, containers }: ToRead, moment: Moment, message: string): void {
    const changed = [
      ...sandboxes.map((item) =>
        this.#sandboxes.put(podUid, toListedSandboxView(item), moment, 'query', true),
      ),
      ...containers.map((item) =>
        this.#containers.put(podUid, toListedContainerView(item, message), moment, 'query', true),
      ),
    ];
    if (changed.includes(true)) this.#touch(podUid);
  }

  /** A status that was asked for at `moment` was not there. */
  remove(id: string, moment: Moment): void {
    this.#remove(id, moment.order);
  }

  #remove(id: string, order: number): void {
    const podUid = this.#containers.remove(id, order) ?? this.#sandboxes.remove(id, order);
    if (podUid !== undefined) this.#touch(podUid);
  }

  #touch(podUid: string): void {
    this.#views.delete(podUid);
    this.#changed.add(podUid);
    if (this.pod(podUid) === undefined) this.#identities.delete(podUid);
  }

  #mustReadSandbox(item: ListedSandbox, { order }: Moment, whole: boolean): boolean {
    if (!this.#sandboxes.isBehind(item.id, order)) return false;
    const known = this.#sandboxes.get(item.id);
    if (known === undefined || known.isPartial) return true;
    const { isReady, network, ips, attempt } = known.value;
    const listed = toListedSandboxView(item);
    if (isReady !== listed.isReady || attempt !== listed.attempt) return true;
    return isReady && (whole || (network === 'pod' && ips.length === 0));
  }

  #mustReadContainer(item: ListedContainer, { order }: Moment, whole: boolean): boolean {
    if (!this.#containers.isBehind(item.id, order)) return false;
    const known = this.#containers.get(item.id);
    if (known === undefined || known.isPartial) return true;
    const { state, attempt } = known.value;
    if (state !== toState(item.state) || attempt !== (item.metadata?.attempt ?? 0)) return true;
    return whole && state !== 'exited';
  }

  #identify(labelled: Parameters<typeof podOf>[0]): PodIdentity | undefined {
    const pod = podOf(labelled);
    if (pod === undefined) return undefined;
    const known = this.#identities.get(pod.uid);
    if (known === undefined || known.name === '') this.#identities.set(pod.uid, pod);
    return pod;
  }

  #build(uid: string): PodView | undefined {
    const sandboxes = this.#sandboxes.ofPod(uid).sort(newestFirst);
    const containers = this.#containers
      .ofPod(uid)
      .sort((a, b) => compareText(a.name, b.name) || newestFirst(a, b));
    if (sandboxes.length === 0 && containers.length === 0) return undefined;
    const { namespace = '', name = '' } = this.#identities.get(uid) ?? {};
    return { uid, namespace, name, sandboxes, containers };
  }
}

function planOf(plan: Map<string, ToRead>, podUid: string): ToRead {
  const known = plan.get(podUid);
  if (known !== undefined) return known;
  const made = { podUid, sandboxes: [], containers: [] };
  plan.set(podUid, made);
  return made;
}

interface Attempted {
  readonly id: string;
  readonly attempt: number;
  readonly createdMs: number;
}

function newestFirst(a: Attempted, b: Attempted): number {
  return b.attempt - a.attempt || b.createdMs - a.createdMs || compareText(a.id, b.id);
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
