import type { Pod } from '../../../api/index.ts';
import { fullName } from '../names.ts';
import type { PodStatus, StatusWriter } from '../status/index.ts';

/** Where the status of the static pods comes from, and who writes it. */
export interface MirrorStatusOptions {
  readonly writer: Pick<StatusWriter, 'set' | 'forget'>;
  /** Of a static pod; undefined while it is not known: then nothing is written. */
  statusOf(pod: Pod): PodStatus | undefined;
  /** Whether something of a static pod of that name, such as `default/web-node`, is still here. Default: nothing is. */
  isEnding?(name: string): boolean;
  /** Calls `listener` when the status of a static pod has changed, or it has none any more. */
  onStatus(listener: () => void): Disposable;
}

/** A mirror of a static pod, and that pod. */
export type Mirrored = readonly [mirror: Pod, pod: Pod];

/**
 * Gives the status of static pods to their mirrors. On the API a static pod has the uid of its mirror, and another one each
 * time that the mirror is made again.
 */
export class MirrorStatuses {
  readonly #options: MirrorStatusOptions;
  /** The uid of the mirror, by full name. */
  readonly #uids = new Map<string, string>();

  constructor(options: MirrorStatusOptions) {
    this.#options = options;
  }

  /** `mirrors`: all that are as they should be. */
  update(mirrors: readonly Mirrored[]): void {
    const { writer } = this.#options;
    const uids = new Map(mirrors.map(([mirror]) => [fullName(mirror), mirror.metadata?.uid ?? '']));
    for (const [name, uid] of this.#uids) {
      if (uids.get(name) === uid) continue;
      this.#uids.delete(name);
      writer.forget(uid);
    }
    for (const [mirror, pod] of mirrors) this.#set(mirror, pod);
  }

  #set({ metadata = {} }: Pod, pod: Pod): void {
    const { namespace = 'default', name = '', uid } = metadata;
    const status = this.#options.statusOf(pod);
    if (uid === undefined || status === undefined) return;
    this.#uids.set(`${namespace}/${name}`, uid);
    this.#options.writer.set({ namespace, name, uid }, status);
  }
}
