import type { ContainerView, PodPartIds, PodView, SandboxView } from '../view/types.ts';

/** What a step that succeeded has made of a container, or without one of a sandbox and all in it. */
export interface Effect {
  readonly sandboxId: string;
  readonly containerId?: string;
  readonly is: 'running' | 'ended' | 'gone';
}

/** What must be read of a pod before it is planned: nothing, these parts, or all of it. */
type ToSee = 'nothing' | 'everything' | PodPartIds;

/**
 * Which actions on a pod the view may not show yet. Of one that succeeded it is known what there must be to see: where the
 * runtime's events have reported that already nothing is asked, and otherwise only for what the action was on. After one that failed, or
 * was cut off, everything of the pod is read.
 */
export class UnseenActions {
  /** How many actions have ended, and how many had when the last look began. */
  #ended = 1;
  #known = 0;
  #effects: Effect[] = [];
  /** Whether what there is to see is not known. */
  #isEverything = true;

  /** Whether all that have ended are in the view. */
  get isNone(): boolean {
    return this.#known === this.#ended;
  }

  /** Whether nothing was done for the pod, and it was not looked at. */
  get isFirst(): boolean {
    return this.#ended === 1 && this.#known === 0;
  }

  /** An action has ended. `effects`: undefined where it failed. */
  add(effects: readonly Effect[] | undefined): void {
    this.#ended += 1;
    if (effects === undefined) this.#isEverything = true;
    else this.#effects.push(...effects);
  }

  /** Has what must be read by `read`: these parts, or everything. After a failure everything is to be read. */
  async look(
    view: PodView | undefined,
    read: (parts: PodPartIds | undefined) => Promise<void>,
  ): Promise<void> {
    const [ended, toSee] = [this.#ended, this.#takeToSee(view)];
    try {
      if (toSee !== 'nothing') await read(toSee === 'everything' ? undefined : toSee);
      this.#known = ended;
    } catch (error) {
      this.#isEverything = true;
      throw error;
    }
  }

  /** The view is as new as it can be. */
  skip(): void {
    this.#takeToSee(undefined);
    this.#known = this.#ended;
  }

  #takeToSee(view: PodView | undefined): ToSee {
    const toSee = this.isNone ? 'nothing' : this.#isEverything ? 'everything' : partsOf(this.#effects, view);
    this.#effects = [];
    this.#isEverything = false;
    return toSee;
  }
}

function partsOf(effects: readonly Effect[], view: PodView | undefined): ToSee {
  const unseen = effects.filter((effect) => !isInView(effect, view));
  if (unseen.length === 0) return 'nothing';
  const sandboxes = unseen.flatMap(({ sandboxId, containerId }) =>
    containerId === undefined ? [{ id: sandboxId }] : [],
  );
  const made = unseen.flatMap(({ sandboxId, containerId, is }) =>
    containerId !== undefined && is === 'running' ? [{ id: containerId, podSandboxId: sandboxId }] : [],
  );
  const known = unseen.flatMap((effect) =>
    containersOf(effect, view).map(({ id, sandboxId }) => ({ id, podSandboxId: sandboxId })),
  );
  const containers = new Map([...made, ...known].map((each) => [each.id, each]));
  return { sandboxes, containers: [...containers.values()] };
}

function isInView(effect: Effect, view: PodView | undefined): boolean {
  const containers = containersOf(effect, view);
  const sandbox =
    effect.containerId === undefined ? view?.sandboxes.find(({ id }) => id === effect.sandboxId) : undefined;
  switch (effect.is) {
    case 'running':
      return effect.containerId === undefined ? hasNetwork(sandbox) : containers.some(hasRun);
    case 'ended':
      return sandbox?.isReady !== true && containers.every(({ state }) => state === 'exited');
    case 'gone':
      return sandbox === undefined && containers.length === 0;
  }
}

function containersOf(
  { sandboxId, containerId }: Effect,
  view: PodView | undefined,
): readonly ContainerView[] {
  const isMeant = (each: ContainerView) =>
    containerId === undefined ? each.sandboxId === sandboxId : each.id === containerId;
  return view?.containers.filter(isMeant) ?? [];
}

const hasRun = ({ state }: ContainerView): boolean => state === 'running' || state === 'exited';

function hasNetwork(sandbox: SandboxView | undefined): boolean {
  return sandbox?.isReady === true && (sandbox.network === 'host' || sandbox.ips.length > 0);
}
