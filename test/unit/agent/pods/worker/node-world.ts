import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Images } from '../../../../../src/agent/images/index.ts';
import type { KnownServices, PodObjects } from '../../../../../src/agent/objects/index.ts';
import { PodTimeline, WaitTimes } from '../../../../../src/agent/pods/explain/index.ts';
import { Housekeeper } from '../../../../../src/agent/pods/housekeeping/index.ts';
import type { PodSource } from '../../../../../src/agent/pods/index.ts';
import { PodRuntimeView } from '../../../../../src/agent/pods/view/runtime-view.ts';
import type {
  ExecutorOptions,
  PodManagerOptions,
  PodWorker,
  StatusSink,
} from '../../../../../src/agent/pods/worker/index.ts';
import {
  NodeTeller,
  PodManager,
  StartGate,
  waitForSlot,
} from '../../../../../src/agent/pods/worker/index.ts';
import { ProbeCommands, ProbeMetrics, Prober } from '../../../../../src/agent/probes/index.ts';
import { PodCgroups } from '../../../../../src/agent/resources/index.ts';
import type { PodCalls } from '../../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { Volumes } from '../../../../../src/agent/volumes/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import { qosClassOf } from '../../../../../src/api/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import type { Behaviours } from '../../../../support/index.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';
import { SimulatedRuntime } from '../../../../support/simulated-runtime.ts';
import { givenWithoutApi } from '../../../../support/without-api.ts';
import type { KilledAt } from './agent-life.ts';
import { AgentLife, MortalExecutor, MortalRecords, mortalCalls } from './agent-life.ts';

type Status = NonNullable<Pod['status']>;

/** What an agent has of an API. */
export interface ApiSide {
  readonly source: PodSource;
  isComplete(): boolean;
  readonly sink: StatusSink;
  run(signal: AbortSignal): Promise<unknown>;
}

export interface NodeWorldOptions {
  /** Default: the pods that `want` has named last, and nobody who is told. */
  readonly connect?: (clock: Clock) => ApiSide;
  readonly behaviours?: Behaviours;
  /** After so long a caller is told that a call took too long; the call goes on. Default 120 s, as the agent's. */
  readonly callTimeoutMs?: number;
  readonly admit?: PodManagerOptions['admit'];
  /** How many pods start at a time; default 4. */
  readonly startsAtOnce?: number;
  /** Where the agent is killed; another begins with `start`. Default nowhere. */
  readonly killedAt?: KilledAt;
  /** Told of each status that is sent. */
  readonly onTold?: (pod: Pod, status: Status) => void;
  /** Told that nothing is left of a pod that is to be deleted. */
  readonly onDeleted?: (pod: Pod) => void;
  /** Called after each look at a pod. */
  readonly onLooked?: () => void;
  /** Whether an event of the runtime gets lost; default none. */
  readonly isLost?: () => boolean;
  /** Default: all are there. */
  readonly images?: Images;
  /** Default: there is no API. */
  readonly given?: { readonly objects: PodObjects; readonly services: KnownServices };
  /** Default: one of its own. */
  readonly clock?: ManualClock;
  /** Whether a command of a probe succeeds, by its words; default: nothing is probed. */
  readonly answersProbe?: (command: string) => boolean;
}

const nothing: Disposable = { [Symbol.dispose]: () => undefined };
const passedAtOnceMs = 500;

/**
 * A node in memory, on a clock of the test: its runtime is simulated, and behind deadlines as behind gRPC; what runs the pods
 * (view, plan, workers, executor, status, records on the disk) is the agent's own.
 */
export class NodeWorld {
  readonly clock: ManualClock;
  readonly runtime: SimulatedRuntime;
  /** `REASON: message` of each Event about a pod, by its name. */
  readonly events = new Map<string, string[]>();
  /** As sent last, by uid; until the API would delete the object. */
  readonly statuses = new Map<string, Status>();
  /** All that were sent, by uid. */
  readonly told = new Map<string, readonly Status[]>();
  readonly timeline: PodTimeline;
  readonly #waits: WaitTimes;
  readonly #folder: string;
  /** How many pods wait until it is their turn to start. */
  waitForTurn = 0;
  /** Whether the machine is about to end. */
  isShuttingDown = false;
  readonly #options: NodeWorldOptions;
  readonly #listeners = new Set<(pods: readonly Pod[]) => void>();
  #pods: readonly Pod[] = [];
  #end = new AbortController();
  #done: Promise<unknown> = Promise.resolve();
  #records: MortalRecords | undefined;
  #manager: PodManager | undefined;
  #life: AgentLife | undefined;

  constructor(folder: string, options: NodeWorldOptions = {}) {
    this.#folder = folder;
    this.#options = options;
    const { behaviours, clock = createManualClock() } = options;
    this.clock = clock;
    this.timeline = new PodTimeline(clock);
    this.#waits = new WaitTimes(clock);
    this.runtime = new SimulatedRuntime({
      clock: this.clock,
      ...(behaviours === undefined ? {} : { behaviours }),
    });
  }

  get manager(): PodManager {
    assert.ok(this.#manager, 'the world was started');
    return this.#manager;
  }

  worker(uid: string): PodWorker | undefined {
    return this.#manager?.worker(uid);
  }

  /** What `status.containerStatuses` says why a container waits. */
  waitingMessage(uid: string, container = 'main'): string {
    const { containerStatuses = [] } = this.statuses.get(uid) ?? {};
    return containerStatuses.find(({ name }) => name === container)?.state?.waiting?.message ?? '';
  }

  eventsOf(name: string): string {
    return (this.events.get(name) ?? []).join('\n');
  }

  want(...pods: readonly Pod[]): void {
    this.#pods = pods;
    for (const listener of [...this.#listeners]) listener(pods);
  }

  running(): number {
    return this.runtime.containers().filter(({ state }) => state === 'running').length;
  }

  isEmpty(): boolean {
    return this.runtime.sandboxes().length === 0 && this.runtime.containers().length === 0;
  }

  /** What is left in the folders of pods, their records and their logs. */
  async leftovers(): Promise<string[]> {
    const folders = ['pods', 'pod-records', 'logs'].map((each) => join(this.#folder, each));
    return (await Promise.all(folders.map((each) => readdir(each).catch(() => [])))).flat();
  }

  start(): void {
    this.#end = new AbortController();
    const { signal } = this.#end;
    const { clock } = this;
    const log = silentLogger();
    const life = new AgentLife(this.#options.killedAt ?? (() => false), () => this.#end.abort());
    this.#life = life;
    const timeoutMs = this.#options.callTimeoutMs ?? 120_000;
    const { isLost = () => false } = this.#options;
    const reached = withDeadlines(this.runtime, clock, timeoutMs);
    const heard = { ...reached, events: (cancel: AbortSignal) => without(isLost, reached.events(cancel)) };
    const calls = mortalCalls(heard, life);
    const view = new PodRuntimeView({ calls, clock, log });
    this.#records = new MortalRecords({ folder: join(this.#folder, 'pod-records'), clock, log }, life);
    const api = this.#options.connect?.(clock);
    const teller = this.#teller(life, api?.sink);
    const source = api?.source ?? this.#source();
    const prober = this.#prober(teller);
    const manager = new PodManager({
      ...{
        view,
        teller,
        clock,
        log,
        images: this.#options.images ?? presentImages,
        volumes: readyVolumes,
        records: this.#records,
      },
      executor: this.#executor(calls, teller, life),
      onAbandoned: (uid) => housekeeper.claim(uid),
      settings: () => ({ maxRestartWaitMs: 300_000 }),
      network: () => ({ isReady: true, message: '' }),
      source,
      isComplete: () => api?.isComplete() ?? true,
      admit: this.#options.admit ?? (async () => ({ isAdmitted: true })),
      isShuttingDown: () => this.isShuttingDown,
      onNodeChange: (listener) => view.onComplete(listener),
      onLooked: () => this.#options.onLooked?.(),
      ...givenWithoutApi,
      ...this.#options.given,
      ...(prober === undefined ? {} : { probes: prober }),
    });
    this.#manager = manager;
    const isKnown = (uid: string) => {
      if (!view.isComplete()) return undefined;
      const isWanted = source.pods().some(({ metadata }) => metadata?.uid === uid);
      return isWanted || manager.worker(uid) !== undefined || view.pod(uid) !== undefined;
    };
    const [podsDir, logsDir] = [join(this.#folder, 'pods'), join(this.#folder, 'logs')];
    const housekeeper = new Housekeeper({ podsDir, logsDir, isKnown, clock, log, readMounts: () => '' });
    const services = [view, manager, housekeeper].map(({ run }) => run(signal, () => undefined));
    this.#done = Promise.all([...services, api?.run(signal), prober?.run(signal, () => undefined)]);
  }

  #prober(teller: NodeTeller): Prober | undefined {
    const { answersProbe } = this.#options;
    if (answersProbe === undefined) return undefined;
    const nobody = new Uint8Array();
    return new Prober({
      calls: {
        execSync: async (_id, command) => ({
          ...{ stdout: nobody, stderr: nobody, exitCode: answersProbe(command.join(' ')) ? 0 : 1 },
        }),
      },
      commands: new ProbeCommands(this.clock, () => 10),
      frozen: { has: () => false, onBegin: () => nothing },
      metrics: new ProbeMetrics(),
      report: (pod, happening, container) => teller.event(pod, happening, container),
      clock: this.clock,
      log: silentLogger(),
    });
  }

  /** The agent ends, and its containers run on. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the agent stops'));
    let isDone = false;
    void this.#done.finally(() => {
      isDone = true;
    });
    // its last step may be the one at which it is killed; what was killed never ends
    await this.until('the agent to stop', () => isDone || this.isDead);
    await (this.isDead ? this.#records?.settled() : this.#records?.[Symbol.asyncDispose]());
  }

  /** Whether it was killed, and no other has begun. */
  get isDead(): boolean {
    return this.#life?.isOver === true;
  }

  /** Kills the agent; resolves when nothing of it goes on. */
  async kill(): Promise<void> {
    this.#life?.end();
    await this.#records?.settled();
  }

  /** Lets time pass, for the disk a little of the real one, until something holds; a busy machine's disk gets more of it. */
  async until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 600_000): Promise<void> {
    const endMs = this.clock.monotonicMs() + limitMs;
    const realEndMs = performance.now() + 30_000;
    while (!(await holds())) {
      if (this.clock.monotonicMs() > endMs && performance.now() > realEndMs)
        throw new Error(`waited ${limitMs} ms in vain for ${what}`);
      await this.pass(passedAtOnceMs);
    }
  }

  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= passedAtOnceMs) {
      await this.clock.advance(Math.min(leftMs, passedAtOnceMs));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
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

  #teller(life: AgentLife, sink?: StatusSink): NodeTeller {
    return new NodeTeller({
      deviceHealth: () => [],
      sink: {
        set: (pod, status) => {
          if (life.isOver) return;
          const uid = pod.metadata?.uid ?? '';
          this.statuses.set(uid, status);
          this.told.set(uid, [...(this.told.get(uid) ?? []), status]);
          this.#options.onTold?.(pod, status);
          sink?.set(pod, status);
        },
        confirmDeletion: (pod) => {
          if (life.isOver) return;
          this.statuses.delete(pod.metadata?.uid ?? '');
          this.#options.onDeleted?.(pod);
          sink?.confirmDeletion(pod);
        },
        forget: (uid) => {
          if (life.isOver) return;
          this.statuses.delete(uid);
          sink?.forget(uid);
        },
      },
      events: {
        record: ({ name }, { reason, message }) => {
          this.events.set(name, [...(this.events.get(name) ?? []), `${reason}: ${message}`]);
        },
      },
      ...{ timeline: this.timeline, waits: this.#waits, qosClassOf },
      hostIps: () => ['192.0.2.1'],
      runtimeName: () => 'containerd',
    });
  }

  #executor(calls: PodCalls, teller: NodeTeller, life: AgentLife): MortalExecutor {
    const { clock } = this;
    const gate = new StartGate(() => this.#options.startsAtOnce ?? 4);
    const limits = { cpuQuota: { isEnforced: true, periodUs: 100_000 }, maxPids: 100 };
    const tree = { version: 1, roots: [], allRoots: [] } as const;
    const cgroups = new PodCgroups({ tree, naming: { driver: 'cgroupfs', root: '/' }, limits, clock });
    const options: ExecutorOptions = {
      ...{ calls, teller, clock, volumes: readyVolumes, log: silentLogger() },
      rootDir: this.#folder,
      logsDir: join(this.#folder, 'logs'),
      cgroups: async () => cgroups,
      removeCgroup: (uid) => cgroups.remove(uid),
      node: () => ({
        ...{ nodeName: 'n1', hostIps: ['192.0.2.1'], clusterDns: [], clusterDomain: 'cluster.local' },
        ...{ hostDns: { servers: [], searches: [], options: [] }, defaultSysctls: {} },
        ...{ cpuQuota: limits.cpuQuota, capacity: {}, allocatable: {} },
      }),
      handlerOf: async () => '',
      agentMark: 'test',
      releaseUserIds: async () => undefined,
      prepareClaims: async () => undefined,
      releaseClaims: async () => undefined,
      userIdsOf: async () => undefined,
      security: async () => ({ seccomp: { profileType: 1, localhostRef: '' }, appArmor: undefined }),
      devicesOf: async () => ({ devices: [], mounts: [], environment: [], annotations: {}, cdiDevices: [] }),
      beforeStart: async () => undefined,
      releaseDevices: async () => undefined,
      enter: async (pod, next, signal) => {
        this.waitForTurn += 1;
        const entering = waitForSlot(gate, pod, next === 'container', signal, clock);
        return await entering.finally(() => {
          this.waitForTurn -= 1;
        });
      },
      beforeStop: async () => ({ [Symbol.dispose]: () => undefined }),
      ...givenWithoutApi,
      ...this.#options.given,
    };
    return new MortalExecutor(options, life);
  }
}

/** The runtime as a caller over gRPC has it. */
function withDeadlines(runtime: SimulatedRuntime, clock: Clock, timeoutMs: number): PodCalls {
  const within = async <T>(call: Promise<T>): Promise<T> => {
    const settled = new AbortController();
    call.catch(() => undefined);
    const late = clock.sleep(timeoutMs, settled.signal).then((): never => {
      throw new RuntimeError('timeout', 'context deadline exceeded');
    });
    late.catch(() => undefined);
    try {
      return await Promise.race([call, late]);
    } finally {
      settled.abort();
    }
  };
  return {
    runSandbox: (...given) => within(runtime.runSandbox(...given)),
    stopSandbox: (...given) => within(runtime.stopSandbox(...given)),
    removeSandbox: (...given) => within(runtime.removeSandbox(...given)),
    createContainer: (...given) => within(runtime.createContainer(...given)),
    startContainer: (...given) => within(runtime.startContainer(...given)),
    stopContainer: (...given) => within(runtime.stopContainer(...given)),
    removeContainer: (...given) => within(runtime.removeContainer(...given)),
    execSync: (...given) => within(runtime.execSync(...given)),
    reopenLog: (...given) => within(runtime.reopenLog(...given)),
    updateResources: (...given) => within(runtime.updateResources(...given)),
    listSandboxes: (...given) => within(runtime.listSandboxes(...given)),
    listContainers: (...given) => within(runtime.listContainers(...given)),
    sandboxStatus: (...given) => within(runtime.sandboxStatus(...given)),
    containerStatus: (...given) => within(runtime.containerStatus(...given)),
    events: (cancel) => runtime.events(cancel),
  };
}

type Events = ReturnType<PodCalls['events']>;

async function* without(isLost: () => boolean, events: Events): Events {
  for await (const event of events) if (!isLost()) yield event;
}

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
