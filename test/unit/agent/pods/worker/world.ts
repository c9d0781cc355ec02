import { join } from 'node:path';
import { containerHash } from '../../../../../src/agent/containers/index.ts';
import type { Images } from '../../../../../src/agent/images/index.ts';
import { PodTimeline } from '../../../../../src/agent/pods/explain/index.ts';
import type { PodSource } from '../../../../../src/agent/pods/index.ts';
import type { StartStep } from '../../../../../src/agent/pods/plan/index.ts';
import type { RuntimeView } from '../../../../../src/agent/pods/view/types.ts';
import type { Verdict } from '../../../../../src/agent/pods/worker/index.ts';
import { PodManager, PodRecords } from '../../../../../src/agent/pods/worker/index.ts';
import { resizePod } from '../../../../../src/agent/pods/worker/resize-pod.ts';
import type { Executor, PodTeller } from '../../../../../src/agent/pods/worker/types.ts';
import type { MemoryShortage } from '../../../../../src/agent/resources/index.ts';
import { containerResources } from '../../../../../src/agent/resources/index.ts';
import type { Volumes } from '../../../../../src/agent/volumes/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { describeError, silentLogger, systemClock } from '../../../../../src/base/index.ts';
import { SimulatedRuntime } from '../../../../support/simulated-runtime.ts';
import { givenWithoutApi } from '../../../../support/without-api.ts';

const nothing = { [Symbol.dispose]: () => undefined };
const uidLabel = 'io.kubernetes.pod.uid';

export function podOf(name: string, more: Pod['metadata'] = {}): Pod {
  return {
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...more },
    spec: {
      containers: [{ name: 'main', image: 'app:1' }],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 2,
    },
  };
}

type Decide = (pod: Pod, others: number) => Verdict | Promise<Verdict>;

/** A node whose runtime is simulated: everything else of running pods is real, down to the records on the disk. */
export class PodWorld {
  readonly runtime = new SimulatedRuntime({ clock: systemClock });
  /** What was done and logged, in order. */
  readonly happened: string[] = [];
  readonly timeline = new PodTimeline(systemClock);
  readonly #folder: string;
  readonly #listeners = new Set<(pods: readonly Pod[]) => void>();
  #pods: readonly Pod[] = [];
  #verdict: Decide = () => ({ isAdmitted: true });
  #end = new AbortController();
  #done: Promise<unknown> = Promise.resolve();
  #records: PodRecords | undefined;
  manager: PodManager | undefined;
  /** Called when a pod has ended, before it is forgotten. */
  onEnded = (): void => undefined;
  /** Whether all sources have been heard. */
  isComplete = true;
  network = { isReady: true, message: '' };
  /** Why the runtime does not tell of any pod. */
  viewError: Error | undefined;
  /** How many containers vanish as they are started, before anybody can see them. */
  lostStarts = 0;
  /** Attempts of which there are logs, by container. */
  logged: ReadonlyMap<string, number> = new Map();
  /** Whether it can be kept on the disk that what is left of a pod is this agent's. */
  canClaim = true;
  /** While this is set and not resolved, the disk takes no record. */
  heldWrites: PromiseWithResolvers<void> | undefined;
  /** What the node has for pods; undefined: they are not resized in place. */
  allocatable: Readonly<Record<string, string>> | undefined;
  /** Of the cgroups of pods; what is done to them is in `happened`. */
  readonly cgroups = {
    raise: async (pod: Pod) => void this.happened.push(`raise ${pod.metadata?.name}`),
    make: async (pod: Pod) => void this.happened.push(`limit ${pod.metadata?.name}`),
    memoryShortages: () => this.shortages,
  };
  shortages: MemoryShortage[] = [];
  /** How often the runtime was asked what it has of a pod. */
  looks = 0;

  constructor(folder: string) {
    this.#folder = join(folder, 'pod-records');
  }

  want(...pods: readonly Pod[]): void {
    this.#pods = pods;
    for (const listener of [...this.#listeners]) listener(pods);
  }

  admit(verdict: Decide): void {
    this.#verdict = verdict;
  }

  running(): number {
    return this.runtime.containers().filter(({ state }) => state === 'running').length;
  }

  start(): void {
    this.#end = new AbortController();
    const { signal } = this.#end;
    const records = new PodRecords({ folder: this.#folder, clock: systemClock, log: silentLogger() });
    this.#records = records;
    const manager = new PodManager({
      view: this.#view(signal),
      ...{ images: presentImages, ...givenWithoutApi },
      volumes: readyVolumes,
      records: this.#slowed(records),
      executor: this.#executor(),
      teller: this.#teller(),
      settings: () => ({ maxRestartWaitMs: 300_000 }),
      network: () => this.network,
      source: this.#source(),
      isComplete: () => this.isComplete,
      admit: async (pod, _origin, others) => await this.#verdict(pod, others.length),
      onAbandoned: async (uid) => {
        this.happened.push(`abandoned ${uid}`);
        return this.canClaim;
      },
      resizing: this.allocatable && { allocatable: () => this.allocatable ?? {} },
      isShuttingDown: () => false,
      onNodeChange: () => nothing,
      clock: systemClock,
      log: silentLogger(),
    });
    this.manager = manager;
    this.#done = manager.run(signal, () => undefined);
  }

  /** The agent ends, and its containers run on. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the agent stops'));
    await this.#done;
    await this.#records?.[Symbol.asyncDispose]();
  }

  #slowed(records: PodRecords): PodRecords {
    const write = records.write.bind(records);
    records.write = async (uid, record) => {
      await this.heldWrites?.promise;
      await write(uid, record);
    };
    return records;
  }

  #source(): PodSource {
    return {
      pods: () => this.#pods,
      onChange: (listener) => {
        this.#listeners.add(listener);
        return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
      },
    };
  }

  #view(signal: AbortSignal): RuntimeView {
    const { runtime } = this;
    const uids = () => [...new Set(runtime.sandboxes().map(({ config }) => config.labels?.[uidLabel] ?? ''))];
    return {
      isComplete: () => true,
      pod: (uid) => runtime.podView(uid),
      pods: () => uids().flatMap((uid) => runtime.podView(uid) ?? []),
      refresh: async (uid) => {
        if (this.viewError !== undefined) throw this.viewError;
        this.looks += 1;
        return runtime.podView(uid);
      },
      reread: async (uid) => runtime.podView(uid),
      onChange(listener) {
        const follow = async () => {
          for await (const event of runtime.events(signal))
            listener(event.podSandboxStatus?.metadata?.uid ?? '');
        };
        void follow().catch(() => undefined);
        return nothing;
      },
    };
  }

  #executor(): Executor {
    const { runtime } = this;
    const isLost = () => this.lostStarts-- > 0;
    return {
      prepare: async () => undefined,
      runSandbox: async (pod, attempt) => await runtime.runSandbox(sandboxOf(pod, attempt), ''),
      stopSandbox: async (_pod, id) => await runtime.stopSandbox(id),
      removeSandbox: async (id) => await runtime.removeSandbox(id),
      async start({ pod, step }) {
        if (isLost()) return { isStarted: true, containerId: 'lost' };
        try {
          const config = containerOf(pod, step);
          const id = await runtime.createContainer(step.sandboxId, config, sandboxOf(pod, 0));
          await runtime.startContainer(id);
          return { isStarted: true, containerId: id };
        } catch (error) {
          return { isStarted: false, reason: 'RunContainerError', message: describeError(error) };
        }
      },
      stop: async (_pod, { containerId, graceSeconds }) =>
        await runtime.stopContainer(containerId, graceSeconds),
      removeContainer: async (_pod, { containerId }) => await runtime.removeContainer(containerId),
      resize: async (pod, step) =>
        await resizePod(pod, step, {
          calls: runtime,
          cgroups: async () => this.cgroups,
          node: () => resizeNode,
        }),
      release: async (pod) => void this.happened.push(`release ${pod.metadata?.name}`),
      forget: async (pod) => void this.happened.push(`forget ${pod.metadata?.name}`),
      messageOf: async () => '',
      loggedAttempts: async () => this.logged,
    };
  }

  #teller(): PodTeller {
    return {
      planned: () => undefined,
      did: ({ metadata }, what) => this.timeline.add(metadata?.uid ?? '', what),
      event: (pod, { reason }) => void this.happened.push(`${reason} ${pod.metadata?.name}`),
      ended: (pod, cause) => {
        this.happened.push(`${cause} ${pod.metadata?.name}`);
        this.onEnded();
      },
    };
  }
}

function sandboxOf({ metadata }: Pod, attempt: number) {
  const { name = '', namespace = '', uid = '' } = metadata ?? {};
  return { metadata: { name, namespace, uid, attempt }, labels: { [uidLabel]: uid } };
}

function containerOf(pod: Pod, { container, attempt, restartCount, imageId }: StartStep) {
  const { metadata, spec } = pod;
  const found = spec?.containers?.find(({ name }) => name === container);
  const image = found?.image ?? '';
  const resources = found === undefined ? {} : containerResources(pod, found, resizeNode);
  return {
    linux: { resources },
    metadata: { name: container, attempt },
    image: { image: imageId },
    labels: { [uidLabel]: metadata?.uid ?? '' },
    annotations: {
      'io.kubernetes.container.restartCount': String(restartCount),
      'io.kubernetes.container.hash': containerHash({ name: container, image }),
    },
  };
}

const resizeNode = {
  cpuQuota: { isEnforced: true, periodUs: 100_000 },
  capacity: { cpu: '8', memory: '8Gi' },
};

const presentImages: Images = {
  want: () => ({ state: 'present', id: 'sha256:1', user: {} }),
  forget: () => undefined,
  onChange: () => nothing,
};

const readyVolumes: Volumes = {
  want: () => ({ state: 'ready' }),
  mountsOf: async () => [],
  accessOf: async () => ({ devices: [], groups: [] }),
  contentsOf: () => [],
  readFile: async () => '',
  release: async () => undefined,
  onChange: () => nothing,
};
