import type { Pod } from '../../api/index.ts';
import type { ApiPods } from '../pods/index.ts';
import { annotationOf, sourceAnnotation } from '../pods/index.ts';
import type { PodStatus, StatusWriter } from '../pods/status/index.ts';
import type { StatusSink } from '../pods/worker/index.ts';

/** Without a control plane: statuses are sent nowhere, and only callers of this agent see them. */
export const noStatuses: StatusSink = {
  set: () => undefined,
  confirmDeletion: () => undefined,
  forget: () => undefined,
};

/** Sends the statuses of the API's pods there; those of static pods get to their mirrors elsewhere. */
export class ApiStatuses implements StatusSink, Disposable {
  readonly #writer: StatusWriter;
  readonly #subscription: Disposable;
  /** The uids that the API had last. */
  #known: ReadonlySet<string> = new Set();

  constructor(writer: StatusWriter, onApi: ApiPods) {
    this.#writer = writer;
    this.#subscription = onApi.onChange((pods) => this.#follow(pods));
  }

  set(pod: Pod, status: PodStatus): void {
    if (annotationOf(pod, sourceAnnotation) === undefined) this.#writer.set(namesOf(pod), status);
  }

  confirmDeletion(pod: Pod): void {
    this.#writer.confirmDeletion(namesOf(pod));
  }

  forget(podUid: string): void {
    this.#writer.forget(podUid);
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
  }

  /** What the API does not have any more is forgotten. */
  #follow(pods: readonly Pod[]): void {
    const uids = new Set(pods.map(({ metadata }) => metadata?.uid ?? ''));
    for (const uid of this.#known) if (!uids.has(uid)) this.#writer.forget(uid);
    this.#known = uids;
  }
}

function namesOf({ metadata }: Pod) {
  const { namespace = '', name = '', uid = '' } = metadata ?? {};
  return { namespace, name, uid };
}
