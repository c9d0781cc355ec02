import type { V1ConfigMap } from '@kubernetes/client-node';
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node';
import { waitFor } from '../../support/index.ts';
import { countIn } from './counters.ts';

const restartAfterMs = 50;

/**
 * An informer of the counters of a namespace, used as its documentation has it: started again when it tells an error.
 * Notes what it makes of the counters. Disposal stops it.
 */
export class FollowedCounters implements AsyncDisposable {
  readonly #core: CoreV1Api;
  readonly #namespace: string;
  readonly #informer: ReturnType<typeof makeInformer<V1ConfigMap>>;
  readonly #known = new Map<string, number>();
  #isStopped = false;
  /** Steps that cannot be one write after another, in sentences. */
  readonly jumps: string[] = [];
  events = 0;
  lists = 0;
  errors = 0;

  constructor(config: KubeConfig, namespace: string) {
    this.#core = config.makeApiClient(CoreV1Api);
    this.#namespace = namespace;
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    this.#informer = makeInformer<V1ConfigMap>(config, path, () => {
      this.lists += 1;
      return this.#core.listNamespacedConfigMap({ namespace });
    });
    for (const verb of ['add', 'update'] as const) {
      this.#informer.on(verb, (object) => this.#take(object, countIn(object) - 1, countIn(object)));
    }
    this.#informer.on('delete', (object) => this.#take(object, countIn(object), 0));
    this.#informer.on('error', () => {
      this.errors += 1;
      setTimeout(() => void this.#start(), restartAfterMs);
    });
  }

  async start(): Promise<void> {
    await this.#start();
  }

  /** `name=count` of all counters it knows. */
  get cache(): string {
    return shown(this.#informer.list());
  }

  /** Waits until its cache is what the server lists. */
  async settles(config: KubeConfig): Promise<void> {
    const core = config.makeApiClient(CoreV1Api);
    await waitFor(
      'the cache to be what is listed',
      async () => {
        const { items } = await core.listNamespacedConfigMap({ namespace: this.#namespace });
        return this.cache === shown(items);
      },
      { timeoutMs: 30_000 },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#informer.stop();
  }

  async #start(): Promise<void> {
    if (!this.#isStopped) await this.#informer.start();
  }

  /** `before`: what the counter stood at, when every write is told. */
  #take({ metadata }: V1ConfigMap, before: number, after: number): void {
    const name = metadata?.name ?? '';
    if (!name.startsWith('counter-')) return; // what the control plane puts into a namespace
    this.events += 1;
    const known = this.#known.get(name) ?? 0;
    if (known !== before) this.jumps.push(`${name} from ${known} to ${after}`);
    this.#known.set(name, after);
  }
}

/** The cluster of a kubeconfig, reached by another port. */
export function throughPort(kubeconfig: string, port: number): KubeConfig {
  const direct = new KubeConfig();
  direct.loadFromFile(kubeconfig);
  const config = new KubeConfig();
  const { clusters, users, contexts, currentContext } = direct;
  const moved = clusters.map((cluster) => ({ ...cluster, server: `https://127.0.0.1:${port}` }));
  config.loadFromOptions({ clusters: moved, users, contexts, currentContext });
  return config;
}

function shown(items: readonly V1ConfigMap[]): string {
  return items
    .filter(({ metadata }) => metadata?.name?.startsWith('counter-'))
    .map((item) => `${item.metadata?.name}=${countIn(item)}`)
    .toSorted()
    .join(' ');
}
