import type { Clock, Logger } from '../../base/index.ts';
import { createBackoff, createWaker, describeError } from '../../base/index.ts';
import { RuntimeError } from '../runtime/index.ts';
import type { ImageAccess } from './access/image-access.ts';
import type { PullBackoffs } from './backoffs.ts';
import type { CredentialSources } from './credentials/sources.ts';
import type { Credential } from './credentials/types.ts';
import type { ImageCalls, LocalImage } from './image-calls.ts';
import type { ImageEvents } from './image-events.ts';
import type { ImageMetrics } from './image-metrics.ts';
import type { ImageName } from './image-name.ts';
import { parseImageName } from './image-name.ts';
import type { Progress } from './progress.ts';
import { describeLooking, describePulling, describeQueued, whileReporting } from './progress.ts';
import { classifyPullError } from './pull-error.ts';
import type { PullResult, PullShare, Pulls } from './pulls.ts';
import type { ImageState, ImageWish } from './types.ts';

export interface ContainerImageParts {
  readonly calls: ImageCalls;
  readonly pulls: Pulls;
  readonly backoffs: PullBackoffs;
  readonly sources: CredentialSources;
  /** Undefined: every pod may use every image of the node. */
  readonly access: ImageAccess | undefined;
  readonly events: ImageEvents;
  readonly metrics: ImageMetrics | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** So long the failure itself is reported, before the wait is. */
const failureReportMs = 2000;
/** An image that must not be pulled may be brought by other means. */
const absentCheckMs = 10_000;
/** After so long it is looked again whether an image is still on the node. */
const recheckMs = 60_000;
/** While the image service is away. */
const outageWaits = { initialMs: 500, maxMs: 10_000 };

/** What one step leads to: milliseconds until the next, or nothing more to do. */
type Next = number | 'done';

/**
 * Brings the image for one attempt of one container: looks whether it is there, pulls it by the policy, and tries again
 * by itself until the image is there or nobody wants it any more.
 */
export class ContainerImage {
  readonly #parts: ContainerImageParts;
  readonly #onChange: () => void;
  readonly #end = new AbortController();
  readonly #outage = createBackoff(outageWaits);
  #wish: ImageWish;
  #state: ImageState;
  #name: ImageName | undefined;
  #checkedMs = 0;
  #isChecking = false;
  /** What the last pull found in the secrets of the pod. */
  #observedSecrets: ReadonlyMap<string, string> = new Map();
  /** What was reported last as an event that is not repeated. */
  #reported = '';

  constructor(wish: ImageWish, parts: ContainerImageParts, onChange: () => void) {
    this.#wish = wish;
    this.#parts = parts;
    this.#onChange = onChange;
    this.#state = { state: 'pulling', message: describeLooking(wish.image, 0).message };
  }

  get state(): ImageState {
    return this.#state;
  }

  /** Its name as runtimes list it, and its id, where they are known: it must not be removed. */
  get held(): readonly string[] {
    const name = this.#name === undefined ? [] : [this.#name.canonical];
    return this.#state.state === 'present' ? [...name, this.#state.id] : name;
  }

  /** Whether it is for the same attempt at the same image. */
  isFor({ image, pullPolicy, attempt }: ImageWish): boolean {
    const mine = this.#wish;
    return mine.image === image && mine.pullPolicy === pullPolicy && mine.attempt === attempt;
  }

  start(): void {
    void this.#run();
  }

  /** The pod as it is now; starts a new look when the last one is old. */
  renew(wish: ImageWish): void {
    this.#wish = wish;
    const isOld = this.#parts.clock.monotonicMs() - this.#checkedMs > recheckMs;
    if (this.#state.state === 'present' && isOld && !this.#isChecking) void this.#recheck(this.#state.id);
  }

  end(): void {
    this.#end.abort();
  }

  async #run(): Promise<void> {
    const { log } = this.#parts;
    const name = this.#parseName();
    this.#name = name;
    if (name === undefined) return;
    while (!this.#end.signal.aborted) {
      let next: Next;
      try {
        next = await this.#step(name);
      } catch (error) {
        if (this.#end.signal.aborted) return;
        log.error(`image ${name.full} could not be brought: ${describeError(error)}`);
        next = this.#failFor('ImageInspectError', describeError(error), outageWaits.maxMs);
      }
      if (next === 'done') return;
      await this.#rest(next);
    }
  }

  /** A secret that comes, or is corrected, ends the wait, and what follows from the failures before does not count. */
  async #rest(waitMs: number): Promise<void> {
    const { clock, sources, backoffs } = this.#parts;
    const { pod, image } = this.#wish;
    const settled = new AbortController();
    const signal = AbortSignal.any([this.#end.signal, settled.signal]);
    const waits = [clock.sleep(waitMs, signal).then(() => false)];
    if (this.#observedSecrets.size > 0)
      waits.push(sources.untilChanged(pod, this.#observedSecrets, signal).then(() => !signal.aborted));
    const isThere = await Promise.race(waits);
    settled.abort();
    if (isThere) backoffs.succeeded(pod.metadata?.uid ?? '', image);
  }

  #parseName(): ImageName | undefined {
    const { image } = this.#wish;
    try {
      return parseImageName(image);
    } catch (error) {
      const cause = `couldn't parse image name "${image}": ${describeError(error)}`;
      const message = `Failed to apply default image tag "${image}": ${cause}`;
      this.#parts.events.inspectFailed(this.#wish, message, 'InvalidImageName');
      this.#set({ state: 'failed', reason: 'InvalidImageName', message, untilMs: undefined });
      return undefined;
    }
  }

  async #step(name: ImageName): Promise<Next> {
    const { events } = this.#parts;
    let found: LocalImage | undefined;
    try {
      found = await this.#look(name);
    } catch (error) {
      return this.#inspectFailed(error);
    }
    const { pullPolicy, image } = this.#wish;
    if (found !== undefined && pullPolicy !== 'Always' && (await this.#mayUse(found, name))) {
      events.present(this.#wish, image);
      return this.#arrived(found);
    }
    if (pullPolicy === 'Never') return this.#neverPulled();
    return this.#waitBack() ?? (await this.#pull(name));
  }

  /** Until that takes long, the state stays what it was. */
  async #look(name: ImageName): Promise<LocalImage | undefined> {
    const { clock, calls } = this.#parts;
    const startMs = clock.monotonicMs();
    const describe = () => describeLooking(this.#wish.image, clock.monotonicMs() - startMs);
    const found = await this.#reporting(calls.status(name.full, this.#end.signal), describe);
    this.#end.signal.throwIfAborted();
    this.#outage.reset();
    return found;
  }

  /** Whether the pod has what opened the image, where it needs that. */
  async #mayUse({ id }: LocalImage, name: ImageName): Promise<boolean> {
    const { access, sources } = this.#parts;
    if (access === undefined || access.isOpen(id, name)) return true;
    const { credentials } = await sources.find(this.#wish.pod, name.repository, this.#end.signal);
    return access.isOpenTo(credentials, id, name);
  }

  /** The service is away or hangs, or the image is damaged there. */
  #inspectFailed(error: unknown): Next {
    this.#end.signal.throwIfAborted();
    const message = `Failed to inspect image "${this.#wish.image}": ${describeError(error)}`;
    this.#reportOnce(message, () =>
      this.#parts.events.inspectFailed(this.#wish, message, 'ImageInspectError'),
    );
    return this.#failFor('ImageInspectError', message, this.#outage.next());
  }

  #neverPulled(): Next {
    const message = `Container image "${this.#wish.image}" is not present with pull policy of Never`;
    this.#reportOnce(message, () => this.#parts.events.neverPulled(this.#wish, message));
    return this.#failFor('ErrImageNeverPull', message, absentCheckMs);
  }

  /** Undefined: it may be tried now. */
  #waitBack(): Next | undefined {
    const { pod, image } = this.#wish;
    const current = this.#parts.backoffs.current(pod.metadata?.uid ?? '', image);
    if (current === undefined) return undefined;
    const { failure, remainingMs } = current;
    this.#parts.events.backOff(this.#wish, image);
    const message = `Back-off pulling image "${image}": ${failure.reason}: ${failure.message}`;
    return this.#failFor('ImagePullBackOff', message, remainingMs);
  }

  async #pull(name: ImageName): Promise<Next> {
    const { clock, sources, pulls, events, calls, access } = this.#parts;
    const { pod, image } = this.#wish;
    const startMs = clock.monotonicMs();
    const found = await sources.find(pod, name.repository, this.#end.signal);
    const { credentials, missingSecrets } = found;
    this.#end.signal.throwIfAborted();
    this.#observedSecrets = found.observed;
    if (missingSecrets.length > 0) events.secretsMissing(this.#wish, missingSecrets);
    events.pulling(this.#wish, image);
    let pulled: { id: string; credential: Credential | undefined } | undefined;
    await access?.begun(name);
    try {
      this.#end.signal.throwIfAborted();
      using share = pulls.join({ image: name.full, credentials, pod });
      const { tookMs, credential } = await this.#follow(share);
      const totalMs = clock.monotonicMs() - startMs;
      const found = await calls.status(name.full, this.#end.signal);
      if (found === undefined) throw new RuntimeError('failed', 'the image was pulled and is not there');
      pulled = { id: found.id, credential };
      events.pulled(this.#wish, image, { pullMs: tookMs, totalMs, sizeBytes: found.sizeBytes });
      this.#parts.metrics?.pulled(totalMs / 1000, found.sizeBytes);
      this.#parts.backoffs.succeeded(pod.metadata?.uid ?? '', image);
      return this.#arrived(found);
    } catch (error) {
      this.#end.signal.throwIfAborted();
      return await this.#pullFailed(name, error);
    } finally {
      if (pulled === undefined && this.#end.signal.aborted) access?.left(name);
      else await access?.ended(name, pulled);
    }
  }

  async #follow(share: PullShare): Promise<PullResult> {
    const { clock } = this.#parts;
    const { image } = this.#wish;
    const joinedMs = clock.monotonicMs();
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => undefined);
    const onEnd = () => ended.reject(this.#end.signal.reason);
    this.#end.signal.addEventListener('abort', onEnd, { once: true });
    const describe = () =>
      share.isQueued
        ? describeQueued(image)
        : describePulling(image, clock.monotonicMs() - (share.startedMs ?? joinedMs));
    const waker = createWaker(clock);
    share.onStart(() => waker.wake());
    this.#set({ state: 'pulling', message: describe().message });
    try {
      return await this.#reporting(Promise.race([share.done, ended.promise]), describe, waker);
    } finally {
      this.#end.signal.removeEventListener('abort', onEnd);
    }
  }

  /** A service that went away meanwhile says nothing of the image: that counts as no failed pull. */
  async #pullFailed(name: ImageName, error: unknown): Promise<Next> {
    const { backoffs, events, calls, clock } = this.#parts;
    const { pod, image } = this.#wish;
    if (error instanceof RuntimeError && (error.reason === 'unavailable' || error.reason === 'timeout')) {
      try {
        await calls.status(name.full, this.#end.signal);
      } catch (failure) {
        return this.#inspectFailed(failure);
      }
    }
    const { reason, message } = classifyPullError(image, describeError(error));
    const { waitMs } = backoffs.failed(pod.metadata?.uid ?? '', image, reason, message);
    events.pullFailed(this.#wish, image, describeError(error), reason);
    this.#set({ state: 'failed', reason, message, untilMs: clock.now() + waitMs });
    return Math.min(failureReportMs, waitMs);
  }

  #arrived({ id, user }: LocalImage): Next {
    this.#checkedMs = this.#parts.clock.monotonicMs();
    this.#set({ state: 'present', id, user });
    return 'done';
  }

  #failFor(reason: string, message: string, waitMs: number): Next {
    const untilMs = this.#parts.clock.now() + waitMs;
    this.#set({ state: 'failed', reason, message, untilMs });
    return waitMs;
  }

  /** An image that is gone is brought again. Of a service that does not answer nothing follows. */
  async #recheck(id: string): Promise<void> {
    this.#isChecking = true;
    try {
      const found = await this.#parts.calls.status(id, this.#end.signal);
      this.#checkedMs = this.#parts.clock.monotonicMs();
      if (found !== undefined || this.#end.signal.aborted) return;
      this.#set({ state: 'pulling', message: describeLooking(this.#wish.image, 0).message });
      this.start();
    } catch {
      this.#checkedMs = this.#parts.clock.monotonicMs();
    } finally {
      this.#isChecking = false;
    }
  }

  #reporting<T>(
    work: Promise<T>,
    describe: () => Progress,
    waker = createWaker(this.#parts.clock),
  ): Promise<T> {
    const report = (message: string) => this.#set({ state: 'pulling', message });
    return whileReporting(work, { waker, describe, report, signal: this.#end.signal });
  }

  #reportOnce(text: string, report: () => void): void {
    if (this.#reported !== text) report();
    this.#reported = text;
  }

  #set(state: ImageState): void {
    if (this.#end.signal.aborted || JSON.stringify(state) === JSON.stringify(this.#state)) return;
    this.#state = state;
    this.#onChange();
  }
}
