import type { Node } from '../../api/index.ts';
import { billionths, nodeKind } from '../../api/index.ts';
import type { Clock, Service } from '../../base/index.ts';
import { readRegularFile, withDeadline } from '../../base/index.ts';
import type { EffectiveConfig } from '../config/index.ts';
import type { DnsSettings } from '../containers/index.ts';
import { localDns, parseResolvConf } from '../containers/index.ts';
import type { NodeApi } from '../identity/index.ts';
import type { ExtraResources, Measure, Measurements, NodeResources, Thresholds } from '../node/index.ts';
import { computeResources, withExtra } from '../node/index.ts';
import type { AllPodsLimits } from '../resources/index.ts';
import type { Runtime } from '../runtime/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';

export interface NodeFactsOptions {
  nodeName: string;
  /** Undefined without a control plane. */
  api: Pick<NodeApi, 'get'> | undefined;
  measure: Measure;
  devices(): ExtraResources;
  hostIps(): readonly string[];
  config(): EffectiveConfig;
  clock: Clock;
}

/** Where the runtime keeps images and containers, as far as it has said that. */
export function disksOf(runtime: Pick<Runtime, 'images'>) {
  const { imageDir, containerDir } = runtime.images();
  return { images: imageDir, containers: containerDir };
}

const resolvLimitBytes = 64 * 1024;
const measureMs = 60_000;
/** How long a Node that was read serves for the admission of further pods. */
const nodeMs = 5000;
const readTimeoutMs = 5000;

/** What pods are judged by, and made with: what the machine has, and the labels and taints of its Node. */
export class NodeFacts {
  readonly #options: NodeFactsOptions;
  #measured: Measurements | undefined;
  #hostDns: DnsSettings = { servers: [], searches: [], options: [] };
  #node: Node | undefined;
  readonly #forever = new AbortController().signal;
  #readMs = Number.NEGATIVE_INFINITY;

  constructor(options: NodeFactsOptions) {
    this.#options = options;
  }

  /** As last measured, with the devices of now. */
  resources(): NodeResources {
    const { eviction } = this.#options.config();
    return withExtra(this.#computeResources(eviction.hard), this.#options.devices());
  }

  /** Bytes of memory that are not reserved; undefined where that is not known. */
  memoryForPods(): number | undefined {
    return toBytes(this.#computeResources({}).allocatable['memory']);
  }

  /**
   * What all pods together may use: what is not reserved, or all that the machine has where that is not enforced. The thresholds of
   * eviction are not taken off, as they are of what is allocatable: pods are to be evicted before the kernel kills one of them.
   */
  allPodsLimits(): AllPodsLimits {
    const { enforcement, reserved } = this.#options.config();
    const resources = this.#computeResources({});
    const { cpu, memory } = enforcement.pods ? resources.allocatable : resources.capacity;
    const machinePids = this.#measured?.pids?.limit;
    return {
      cpuMillis: Math.max(1, Number(billionths(cpu ?? '1') / 1_000_000n)),
      memoryBytes: toBytes(memory),
      pids: machinePids && Math.max(1, machinePids - (enforcement.pods ? reserved.pids : 0)),
    };
  }

  #computeResources(minFree: Thresholds): NodeResources {
    if (this.#measured === undefined) return { capacity: {}, allocatable: {} };
    const { maxPods, reserved, pods } = this.#options.config();
    return computeResources(
      this.#measured,
      { maxPods, podsPerCore: pods.podsPerCore },
      { minFree, reserved },
    );
  }

  /** What `resolvConf` says. */
  hostDns(): DnsSettings {
    return this.#hostDns;
  }

  /** The Node as the API has it, at most 5 s old, or as last read while the API is away; undefined before. */
  async node(isFresh = false): Promise<Node | undefined> {
    const { api, nodeName, clock } = this.#options;
    const isOld = clock.monotonicMs() - this.#readMs > nodeMs;
    if (api === undefined || !(isFresh || isOld)) return this.#node;
    try {
      const limits = { clock, timeoutMs: readTimeoutMs, signal: this.#forever };
      const read = (signal: AbortSignal) => api.get(nodeKind, nodeName, { signal });
      this.#node = await withDeadline(limits, 'the control plane', read);
      this.#readMs = clock.monotonicMs();
    } catch {
      // the heartbeat tells that the API is away; what was read last stands
      this.#readMs = clock.monotonicMs();
    }
    return this.#node;
  }

  /** Of a service: ready after the first measurement. */
  readonly run: Service['run'] = async (signal, ready) => {
    const { measure, config, clock } = this.#options;
    while (!signal.aborted) {
      this.#measured = await measure(signal);
      this.#hostDns = await this.#readDns(config().pods.resolvConf);
      ready();
      await clock.sleep(measureMs, signal);
    }
  };

  /** What cannot be read says nothing. */
  async #readDns(path: string): Promise<DnsSettings> {
    if (path === '') return localDns(this.#options.hostIps());
    const text = await readRegularFile(path, { limitBytes: resolvLimitBytes }).catch(() => Buffer.of());
    return parseResolvConf(text.toString());
  }
}

const toBytes = (quantity: string | undefined): number | undefined =>
  quantity === undefined ? undefined : Number(billionths(quantity) / 1_000_000_000n);

/** Of this node. */
export function createFacts(
  { live, nodeName, options: { clock } }: AgentContext,
  { onApi }: PodParts,
  parts: Pick<NodeFactsOptions, 'measure' | 'devices' | 'hostIps'>,
): NodeFacts {
  return new NodeFacts({ ...parts, nodeName, clock, api: onApi?.api, config: () => live.current });
}
