import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Images } from '../../../../../src/agent/images/index.ts';
import { PodTimeline, WaitTimes } from '../../../../../src/agent/pods/explain/index.ts';
import { PodRuntimeView } from '../../../../../src/agent/pods/view/runtime-view.ts';
import type { PodManagerOptions, PodWorker } from '../../../../../src/agent/pods/worker/index.ts';
import {
  NodeExecutor,
  NodeTeller,
  PodManager,
  PodRecords,
  StartGate,
} from '../../../../../src/agent/pods/worker/index.ts';
import { PodCgroups, qosClassOf } from '../../../../../src/agent/resources/index.ts';
import type { PodCalls } from '../../../../../src/agent/runtime/index.ts';
import { RuntimeError } from '../../../../../src/agent/runtime/index.ts';
import type { Volumes } from '../../../../../src/agent/volumes/index.ts';
import type { Pod } from '../../../../../src/api/index.ts';
import type { Clock } from '../../../../../src/base/index.ts';
import { silentLogger } from '../../../../../src/base/index.ts';
import type { Behaviours } from '../../../../support/index.ts';
import { SimulatedRuntime } from '../../../../support/index.ts';
import type { ManualClock } from '../../../../support/manual-clock.ts';
import { createManualClock } from '../../../../support/manual-clock.ts';

type Status = NonNullable<Pod['status']>;

export interface NodeWorldOptions {
  readonly behaviours?: Behaviours;
  /** After so long a caller is told that a call took too long; the call goes on. Default 120 s, as the agent's. */
  readonly callTimeoutMs?: number;
  readonly admit?: PodManagerOptions['admit'];
}

const nothing: Disposable = { [Symbol.dispose]: () => undefined };
const passedAtOnceMs = 500;

/**
 * A node in memory, on a clock of the test: its runtime is simulated, and behind deadlines as behind gRPC; what runs the pods
 * (view, plan, workers, executor, status, records on the disk) is the agent's own.
 */
export class NodeWorld {
  readonly clock: ManualClock = createManualClock();
  readonly runtime: SimulatedRuntime;
  /** `REASON: message` of each Event about a pod, by its name. */
  readonly events = new Map<string, string[]>();
  /** As sent last, by uid; until the API would delete the object. */
  readonly statuses = new Map<string, Status>();
  /** All that were sent, by uid. */
  readonly told = new Map<string, readonly Status[]>();
  readonly timeline = new PodTimeline(this.clock);
  readonly #waits = new WaitTimes(this.clock);
  readonly #folder: string;
  readonly #options: NodeWorldOptions;
  readonly #listeners = new Set<(pods: readonly Pod[]) => void>();
  #pods: readonly Pod[] = [];
  #end = new AbortController();
  #done: Promise<unknown> = Promise.resolve();
  #records: PodRecords | undefined;
  #manager: PodManager | undefined;

  constructor(folder: string, options: NodeWorldOptions = {}) {
    this.#folder = folder;
    this.#options = options;
    const { behaviours } = options;
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
    const calls = withDeadlines(this.runtime, clock, this.#options.callTimeoutMs ?? 120_000);
    const view = new PodRuntimeView({ calls, clock, log });
    this.#records = new PodRecords({ folder: join(this.#folder, 'pod-records'), clock, log });
    const teller = this.#teller();
    this.#manager = new PodManager({
      ...{ view, teller, clock, log, images: presentImages, volumes: readyVolumes, records: this.#records },
      executor: this.#executor(calls, teller),
      onAbandoned: () => undefined,
      settings: () => ({ maxRestartWaitMs: 300_000 }),
      network: () => ({ isReady: true, message: '' }),
      source: {
        pods: () => this.#pods,
        onChange: (listener) => {
          this.#listeners.add(listener);
          return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
        },
      },
      isComplete: () => true,
      admit: this.#options.admit ?? (async () => ({ isAdmitted: true })),
      onNodeChange: (listener) => view.onComplete(listener),
    });
    const ready = () => undefined;
    this.#done = Promise.all([view.run(signal, ready), this.#manager.run(signal, ready)]);
  }

  /** The agent ends, and its containers run on. */
  async stop(): Promise<void> {
    this.#end.abort(new Error('the agent stops'));
    let isDone = false;
    void this.#done.finally(() => {
      isDone = true;
    });
    await this.until('the agent to stop', () => isDone);
    await this.#records?.[Symbol.asyncDispose]();
  }

  /** Lets time pass, for the disk a little of the real one, until something holds. */
  async until(what: string, holds: () => boolean | Promise<boolean>, limitMs = 600_000): Promise<void> {
    const endMs = this.clock.monotonicMs() + limitMs;
    while (!(await holds())) {
      if (this.clock.monotonicMs() > endMs) throw new Error(`waited ${limitMs} ms in vain for ${what}`);
      await this.pass(passedAtOnceMs);
    }
  }

  async pass(ms: number): Promise<void> {
    for (let leftMs = ms; leftMs > 0; leftMs -= passedAtOnceMs) {
      await this.clock.advance(Math.min(leftMs, passedAtOnceMs));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  #teller(): NodeTeller {
    return new NodeTeller({
      deviceHealth: () => [],
      sink: {
        set: ({ metadata }, status) => {
          const uid = metadata?.uid ?? '';
          this.statuses.set(uid, status);
          this.told.set(uid, [...(this.told.get(uid) ?? []), status]);
        },
        confirmDeletion: ({ metadata }) => void this.statuses.delete(metadata?.uid ?? ''),
        forget: (uid) => void this.statuses.delete(uid),
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

  #executor(calls: PodCalls, teller: NodeTeller): NodeExecutor {
    const { clock } = this;
    const gate = new StartGate(() => 4);
    const limits = { cpuQuota: { isEnforced: true, periodUs: 100_000 }, maxPids: 100 };
    const tree = { version: 1, roots: [], allRoots: [] } as const;
    const cgroups = new PodCgroups({ tree, naming: { driver: 'cgroupfs', root: '/' }, limits, clock });
    return new NodeExecutor({
      ...{ calls, teller, clock, volumes: readyVolumes, log: silentLogger() },
      rootDir: this.#folder,
      logsDir: join(this.#folder, 'logs'),
      cgroups: async () => cgroups,
      madeCgroups: () => cgroups,
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
      enter: async ({ spec }, next, signal) =>
        await gate.enter({ priority: spec?.priority ?? 0, hasBegun: next === 'container' }, signal),
      beforeStop: async () => ({ [Symbol.dispose]: () => undefined }),
    });
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

const presentImages: Images = {
  want: () => ({ state: 'present', id: 'sha256:1', user: {} }),
  forget: () => undefined,
  onChange: () => nothing,
};

const readyVolumes: Volumes = {
  accessOf: async () => ({ devices: [], groups: [] }),
  contentsOf: () => [],
  readFile: async () => '',
  want: () => ({ state: 'ready' }),
  mountsOf: async () => [],
  release: async () => undefined,
  onChange: () => nothing,
};
