import type { Clock, Logger, Service, Waker } from '../../../base/index.ts';
import { createWaker, describeError } from '../../../base/index.ts';
import type { PodView, RuntimeView } from '../view/types.ts';
import type { LinkedLog } from './log-links.ts';
import { linkLog, logLinkName, pruneLogLinks, unlinkLog } from './log-links.ts';
import type { ContainerLog } from './log-rotator.ts';

/** How often links are looked for that lead to nothing. */
const pruneMs = 10 * 60_000;
/** The wait before the next attempt when something failed. */
const retryMs = 10_000;

/** The logs of all containers that the runtime has; undefined while that is not known. */
export function listContainerLogs(
  view: Pick<RuntimeView, 'pods' | 'isComplete'>,
): ContainerLog[] | undefined {
  if (!view.isComplete()) return undefined;
  return view
    .pods()
    .flatMap(({ containers }) =>
      containers
        .filter(({ logPath, state }) => logPath !== '' && state !== 'created')
        .map(({ id, logPath, state }) => ({ id, logPath, isRunning: state === 'running' })),
    );
}

export interface LinkKeeperOptions {
  /** Such as /var/log/containers. */
  readonly linksDir: string;
  readonly logsDir: string;
  /** As for pruning. */
  isOwn(podUid: string): Promise<boolean>;
  readonly view: RuntimeView;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps a link for the log of each container that was started, until the runtime has it no more. */
export class LinkKeeper {
  readonly #options: LinkKeeperOptions;
  readonly #waker: Waker;
  /** Uids of pods. */
  readonly #changed = new Set<string>();
  /** By the uid of the pod, and the name of the link. */
  readonly #links = new Map<string, Map<string, LinkedLog>>();
  #complaint = '';

  constructor(options: LinkKeeperOptions) {
    this.#options = options;
    this.#waker = createWaker(options.clock);
  }

  run: Service['run'] = async (signal, ready) => {
    const { view, clock } = this.#options;
    using _changes = view.onChange((uid) => {
      this.#changed.add(uid);
      this.#waker.wake();
    });
    for (const { uid } of view.pods()) this.#changed.add(uid);
    ready();
    let pruneAtMs = 0;
    while (!signal.aborted) {
      const isDone = await this.#follow();
      if (view.isComplete() && clock.monotonicMs() >= pruneAtMs) {
        await this.#prune();
        pruneAtMs = clock.monotonicMs() + pruneMs;
      }
      await this.#waker.sleep(isDone && view.isComplete() ? pruneMs : retryMs, signal);
    }
  };

  /** Returns whether all went well. */
  async #follow(): Promise<boolean> {
    let isDone = true;
    for (const uid of [...this.#changed]) {
      this.#changed.delete(uid);
      try {
        await this.#followPod(uid);
        this.#complaint = '';
      } catch (error) {
        this.#changed.add(uid);
        isDone = false;
        this.#complain(describeError(error));
      }
    }
    return isDone;
  }

  async #followPod(uid: string): Promise<void> {
    const { linksDir, view } = this.#options;
    const wanted = linksOf(view.pod(uid));
    const made = this.#links.get(uid) ?? new Map<string, LinkedLog>();
    this.#links.set(uid, made);
    for (const [name, { linked, logPath }] of wanted) {
      if (made.has(name)) continue;
      await linkLog(linksDir, linked, logPath);
      made.set(name, linked);
    }
    for (const [name, linked] of made) {
      if (wanted.has(name)) continue;
      await unlinkLog(linksDir, linked);
      made.delete(name);
    }
    if (made.size === 0) this.#links.delete(uid);
  }

  async #prune(): Promise<void> {
    const { linksDir, logsDir, view, isOwn } = this.#options;
    const names = new Set(view.pods().flatMap((pod) => [...linksOf(pod).keys()]));
    try {
      await pruneLogLinks({ linksDir, logsDir, isOwn, isKnown: (name) => names.has(name) });
    } catch (error) {
      this.#complain(describeError(error));
    }
  }

  #complain(message: string): void {
    if (this.#complaint !== message)
      this.#options.log.warn(`cannot link the logs of containers in ${this.#options.linksDir}: ${message}`);
    this.#complaint = message;
  }
}

function linksOf(pod: PodView | undefined): Map<string, { linked: LinkedLog; logPath: string }> {
  const links = (pod?.containers ?? [])
    .filter(({ logPath, state }) => logPath !== '' && state !== 'created')
    .map(({ id: containerId, name: container, logPath }) => {
      const { namespace, name } = pod ?? { namespace: '', name: '' };
      const linked = { namespace, name, container, containerId };
      return [logLinkName(linked), { linked, logPath }] as const;
    });
  return new Map(links);
}
