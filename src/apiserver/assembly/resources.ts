import type { Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';

/**
 * What was opened for services to use. Each is a service of its own, so that those that use it say so by `dependsOn`: it
 * is closed when all of them have stopped. Disposing closes what is open still, the last opened first: a start may fail
 * before any service runs.
 */
export class Resources implements AsyncDisposable {
  readonly #opened = new AsyncDisposableStack();
  readonly #services: Service[] = [];

  get services(): readonly Service[] {
    return this.#services;
  }

  /** `name` is that of its service, which fails, and so stops all others, when `failed` aborts. */
  use<T extends AsyncDisposable>(name: string, resource: T, failed?: AbortSignal): T {
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= Promise.resolve(resource[Symbol.asyncDispose]());
      return closed;
    };
    this.#opened.defer(close);
    this.#services.push(resourceService(name, close, failed));
    return resource;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

function resourceService(name: string, close: () => Promise<void>, failed?: AbortSignal): Service {
  return {
    name,
    dependsOn: [],
    onFailure: 'stop',
    async run(signal, ready) {
      ready();
      await untilAborted(failed === undefined ? signal : AbortSignal.any([signal, failed]));
      if (failed?.aborted && !signal.aborted) throw failed.reason;
      await close();
    },
  };
}
