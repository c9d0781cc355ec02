/** Which container is started next, and what the others wait for. Containers of a pod start one after the other. */
import { nextBackoff, pendingUntilMs, restartAtMs, restartWaitMs, startRetryAtMs } from './backoff.ts';
import type { ContainerState, Exit, PodContainer } from './containers.ts';
import { exitOfRecord, nextAttempt, nextRestartCount, stateOf } from './containers.ts';
import type { Draft } from './draft.ts';
import { waitForResize } from './resize.ts';
import { afterExit } from './restart.ts';
import { restartPolicyOf } from './spec.ts';
import type { ContainerRecord, PlanInput, Wait } from './types.ts';

/** What keeps a container from being started that is to run; undefined: nothing. */
type Obstacle = Wait & { readonly holdsOthers: boolean };

export class Starts {
  readonly #input: PlanInput;
  readonly #draft: Draft;
  readonly #hasInit: boolean;
  /** The container that is being started, or that must be before those after it. */
  #before: string | undefined;

  constructor(containers: readonly PodContainer[], input: PlanInput, draft: Draft) {
    this.#input = input;
    this.#draft = draft;
    this.#hasInit = containers.some(({ type }) => type === 'init' || type === 'sidecar');
    this.#before = containers.find(({ isStarting }) => isStarting)?.name;
  }

  /** Whether the container is to be started at some time, with what is known now. */
  isWanted(container: PodContainer, state: ContainerState): boolean {
    if (state.kind === 'absent') return true;
    return (
      state.kind === 'ended' &&
      afterExit(container, state.exit, restartPolicyOf(this.#input.pod)) !== 'nothing'
    );
  }

  /** Starts the container, or says what it waits for. `isOrdered`: those after it wait while its image is on its way. */
  start(container: PodContainer, sandboxId: string, isOrdered: boolean): void {
    const state = stateOf(container, sandboxId);
    const obstacle = this.#obstacle(container, state);
    if (obstacle === undefined && this.isWanted(container, state)) this.#emit(container, state, sandboxId);
    if (obstacle === undefined) return;
    this.#draft.waitFor(container.name, withoutOrder(obstacle));
    if (isOrdered && obstacle.holdsOthers) this.#before ??= container.name;
  }

  /** Of a container that is to start later: gets its image, and says what it waits for. */
  announce(container: PodContainer, sandboxId: string | undefined, message: string): void {
    const state = stateOf(container, sandboxId);
    const isWanted = this.isWanted(container, state);
    if (!isWanted && state.kind !== 'starting' && state.kind !== 'blocked') return;
    const delay = isWanted ? this.#delay(container, state) : undefined;
    const image = isWanted && delay === undefined ? this.#image(container) : undefined;
    const obstacle = delay ?? (image?.holdsOthers === false ? image : undefined);
    const text = image === undefined ? message : `${message}; ${image.message}`;
    this.#draft.waitFor(
      container.name,
      obstacle ? withoutOrder(obstacle) : { reason: this.#reason(), message: text },
    );
  }

  /** Undefined: nothing keeps it from being started, or it is not to be. */
  #obstacle(container: PodContainer, state: ContainerState): Obstacle | undefined {
    if (state.kind === 'starting') return this.#holding('it is being started');
    if (state.kind === 'blocked') {
      return this.#holding(`its container of attempt ${state.instance.attempt} is being stopped first`);
    }
    return this.isWanted(container, state)
      ? (this.#delay(container, state) ?? this.#missing(container))
      : undefined;
  }

  /** A wait that only time ends: after an end, or after a failed start. */
  #delay(container: PodContainer, state: ContainerState): Obstacle | undefined {
    const { nowMs, settings, pod } = this.#input;
    const exit = this.#exitBefore(container, state);
    const atMs = exit && restartAtMs(container, exit, nowMs, settings);
    if (atMs !== undefined) {
      const { name = '', namespace = '', uid = '' } = pod.metadata ?? {};
      const wait = `back-off ${formatWait(restartWaitMs(container))} restarting failed`;
      const message = `${wait} container=${container.name} pod=${name}_${namespace}(${uid})`;
      return { reason: 'CrashLoopBackOff', message, untilMs: atMs, holdsOthers: false };
    }
    const failure = container.record?.failure;
    if (failure === undefined || (exit !== undefined && (exit.finishedMs ?? 0) > failure.atMs))
      return undefined;
    const untilMs = pendingUntilMs(failure, startRetryAtMs(failure), nowMs);
    if (untilMs === undefined) return undefined;
    return { reason: failure.reason, message: failure.message, untilMs, holdsOthers: false };
  }

  /** The end that this start follows. One that became history counts only where it is why all were restarted. */
  #exitBefore(container: PodContainer, state: ContainerState): Exit | undefined {
    if (state.kind === 'ended') return state.exit;
    const { lastExit } = container.record ?? {};
    if (state.kind !== 'absent' || lastExit?.isHistory !== true) return undefined;
    const exit = exitOfRecord(lastExit);
    return afterExit(container, exit, restartPolicyOf(this.#input.pod)) === 'restartAll' ? exit : undefined;
  }

  #missing(container: PodContainer): Obstacle | undefined {
    const image = this.#image(container);
    const { volumes } = this.#input;
    if (volumes.state === 'waiting') {
      const { reason, untilMs } = volumes;
      const message = `its volumes are not ready: ${volumes.message}`;
      if (reason !== '') this.#draft.waitForPod({ reason, message, untilMs });
      return { ...this.#holding(message), untilMs };
    }
    if (image !== undefined) return image;
    const resize = waitForResize(container, this.#input);
    if (resize !== undefined) return this.#holding(resize);
    return this.#before === undefined
      ? undefined
      : this.#holding(`container ${this.#before} is started first`);
  }

  #image(container: PodContainer): Obstacle | undefined {
    this.#draft.wantImage(container.name, nextAttempt(container));
    const image = this.#input.images.get(container.name);
    if (image === undefined) return this.#holding('its image has not been asked for yet');
    if (image.state === 'pulling') return this.#holding(image.message);
    if (image.state === 'present') return undefined;
    const { reason, message, untilMs } = image;
    return { reason, message, untilMs, holdsOthers: false };
  }

  #emit(container: PodContainer, state: ContainerState, sandboxId: string): void {
    const { images, nowMs, settings } = this.#input;
    const image = images.get(container.name);
    if (image?.state !== 'present') return;
    const exit = this.#exitBefore(container, state);
    const backoff: ContainerRecord['backoff'] = exit && nextBackoff(container, exit, nowMs, settings);
    this.#draft.add({
      kind: 'start',
      container: container.name,
      type: container.type,
      sandboxId,
      attempt: nextAttempt(container),
      restartCount: nextRestartCount(container),
      imageId: image.id,
      ...(backoff === undefined ? {} : { backoff }),
    });
    this.#before = container.name;
    this.#draft.waitFor(container.name, { reason: this.#reason(), message: 'it is being started' });
  }

  #holding(message: string): Obstacle {
    return { reason: this.#reason(), message, holdsOthers: true };
  }

  /** The reference's words for a container that does not run yet. */
  #reason(): string {
    return this.#hasInit ? 'PodInitializing' : 'ContainerCreating';
  }
}

function withoutOrder({ reason, message, untilMs }: Obstacle): Wait {
  return untilMs === undefined ? { reason, message } : { reason, message, untilMs };
}

/** As the reference's language writes a duration: `20s`, `2m40s`. */
export function formatWait(ms: number): string {
  const seconds = Math.round(ms / 100) / 10;
  const minutes = Math.floor(seconds / 60);
  const rest = Math.round((seconds - minutes * 60) * 10) / 10;
  return minutes === 0 ? `${rest}s` : `${minutes}m${rest}s`;
}
