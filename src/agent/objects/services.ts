import type { Service } from '../../api/index.ts';
import { StatusError, serviceKind } from '../../api/index.ts';
import type { Clock, Service as Lifetime, Logger } from '../../base/index.ts';
import { describeError, Listeners } from '../../base/index.ts';
import type { ApiClient, OutageLog } from '../../client/index.ts';
import { createOutageLog, ObjectFollower } from '../../client/index.ts';
import type { Known } from './types.ts';

/** The Services of all namespaces. */
export interface KnownServices {
  services(): Known<readonly Service[]>;
  /** Calls `listener` when they have become known. */
  onKnown(listener: () => void): Disposable;
}

/** Of an agent that stands alone: there are none. */
export const servicesWithoutApi: KnownServices = {
  services: () => ({ state: 'present', object: [] }),
  onKnown: () => ({ [Symbol.dispose]: () => undefined }),
};

export interface NodeServicesOptions {
  readonly api: Pick<ApiClient, 'list' | 'watch'>;
  readonly log: Logger;
  readonly clock: Clock;
  readonly random?: () => number;
}

/** Others are not looked at. */
const maxServices = 20_000;

/** Follows the Services on the API, for the environment of containers. */
export class NodeServices implements KnownServices {
  readonly #options: NodeServicesOptions;
  readonly #outage: OutageLog;
  readonly #listeners: Listeners<[]>;
  /** By namespace and name. */
  readonly #services = new Map<string, Service>();
  /** Why they are not known; undefined: they have been listed once. */
  #waitsFor: string | undefined = 'the API has not been asked yet';

  constructor(options: NodeServicesOptions) {
    const { log, clock } = options;
    this.#options = options;
    this.#listeners = new Listeners('that Services are known', log);
    this.#outage = createOutageLog('follow the Services', clock, log);
  }

  services(): Known<readonly Service[]> {
    if (this.#waitsFor !== undefined) return { state: 'waiting', message: this.#waitsFor };
    return { state: 'present', object: [...this.#services.values()] };
  }

  onKnown(listener: () => void): Disposable {
    return this.#listeners.add(listener);
  }

  /** Of a service; ready at once, as the API need not be reachable. */
  readonly run: Lifetime['run'] = async (signal, ready) => {
    const follower = new ObjectFollower({
      ...{ ...this.#options, kind: serviceKind, maxObjects: maxServices },
      onList: (services) => this.#takeAll(services),
      onChange: (type, service) => {
        if (type === 'DELETED') this.#services.delete(keyOf(service));
        else this.#take(service);
      },
      onAnswer: () => this.#outage.succeeded(),
      onFailure: (error) => this.#fail(error),
    });
    ready();
    await follower.run(signal);
  };

  #takeAll(services: readonly Service[]): void {
    this.#services.clear();
    for (const service of services) this.#take(service);
    const isNews = this.#waitsFor !== undefined;
    this.#waitsFor = undefined;
    if (isNews) this.#listeners.notify();
  }

  /** Keeps what is needed: a cluster may have thousands. */
  #take({ metadata: { name = '', namespace = '' } = {}, spec = {} }: Service): void {
    const { clusterIP = '', ports = [] } = spec;
    const service: Service = { metadata: { name, namespace }, spec: { clusterIP, ports } };
    const key = keyOf(service);
    if (this.#services.size < maxServices || this.#services.has(key)) this.#services.set(key, service);
  }

  #fail(error: unknown): void {
    const isUnserved = error instanceof StatusError && error.reason === 'NotFound';
    if (!isUnserved) this.#outage.failed(error);
    if (this.#waitsFor === undefined) return;
    if (isUnserved)
      this.#takeAll([]); // an API that does not know the kind has none
    else this.#waitsFor = describeError(error);
  }
}

const keyOf = ({ metadata }: Service) => `${metadata?.namespace}/${metadata?.name}`;
