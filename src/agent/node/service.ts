import type { Node } from '../../api/index.ts';
import type { Backoff, Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import { Counter, createBackoff, createWaker } from '../../base/index.ts';
import type { ApiCalls } from '../../client/index.ts';
import { createOutageLog, retryAfterMs } from '../../client/index.ts';
import { listNodeAddresses } from './addresses.ts';
import { createConditionGauge } from './condition-metrics.ts';
import type { Finding, Pressures } from './conditions.ts';
import { findConditions, runtimeStartingMessage } from './conditions.ts';
import { selectImages } from './images.ts';
import type { Measure } from './measure.ts';
import type { Registration } from './registration.ts';
import { nodeLabels, saysRunsNoPods } from './registration.ts';
import type { ExtraResources } from './resources.ts';
import { computeResources, withExtra } from './resources.ts';
import type { RuntimeView } from './runtime-view.ts';
import type { NodeState } from './status.ts';
import { composeStatus } from './status.ts';
import type { SyncResult } from './sync.ts';
import { syncNode } from './sync.ts';
import type { SystemFacts } from './system-facts.ts';
import { collectFacts } from './system-facts.ts';
import type { Eviction, Reserved } from './thresholds.ts';
import type { NodeVolumesInUse } from './volumes-in-use.ts';

export interface NodeStatusOptions {
  nodeName: string;
  /** The name by which the node is reached: the kernel's host name, or its override. */
  hostname: string;
  api: ApiCalls;
  runtime: RuntimeView;
  clock: Clock;
  log: Logger;
  /** What the node has, and what is free of it. */
  measure: Measure;
  /** Port of the agent's HTTPS server, once it has one. */
  port: () => number;
  /** The current configuration; read each time, as it may change. */
  settings: () => NodeSettings;
  /** Calls `listener` when the configuration has changed, so that the status is updated soon. */
  onSettings?: (listener: () => void) => Disposable;
  /** What the node is short of. */
  pressures: () => Pressures;
  /** Calls `listener` when that has changed, so that the status is updated soon. */
  onPressures?: (listener: () => void) => Disposable;
  /** Problems of the agent and its heartbeats, for the message of Ready; default none. */
  remarks?: () => readonly string[];
  /** Why the node is not Ready, from another part of the agent; default nothing. */
  problems?: () => readonly string[];
  /** Calls `listener` when these or the remarks have changed, so that the status is updated at once. */
  onProblems?: (listener: () => void) => Disposable;
  /** Further conditions of the Node, from another part of the agent; default none. */
  conditions?: () => readonly Finding[];
  /** Further resources of the node, from another part of the agent; default none. */
  extraResources?: () => ExtraResources;
  /** Calls `listener` when they have changed, so that the status is updated soon. */
  onExtraResources?: (listener: () => void) => Disposable;
  /** What the status says is in use; default none. */
  volumesInUse?: Pick<NodeVolumesInUse, 'compose' | 'onNode' | 'onChange'>;
  /** Called with the Node after each look at it. */
  onNode?: (node: Node) => void;
  /** Services that must be ready before; default none. */
  dependsOn?: readonly string[];
  metrics?: MetricsRegistry;
  /** A number in [0, 1); default Math.random. */
  random?: () => number;
  /** Replaceable for tests. */
  facts?: (signal: AbortSignal) => Promise<SystemFacts>;
  addresses?: () => NodeState['addresses'];
}

/** The part of the configuration that concerns the node. */
export interface NodeSettings {
  /** How many pods the node takes, and for each processor; without `podsPerCore` however many. */
  readonly maxPods: number;
  readonly podsPerCore?: number | undefined;
  /** Between two measurements of the node (nodeStatusUpdateFrequency). */
  readonly updateFrequencyMs: number;
  /** Between two reports when nothing changes (nodeStatusReportFrequency). */
  readonly reportFrequencyMs: number;
  /** What must stay free. */
  readonly eviction: Eviction;
  /** How many images the status lists, the largest first; -1 all. */
  readonly maxImages: number;
  readonly reserved: Reserved;
  readonly registration: Registration;
}

export interface NodeStatusService extends Service {
  /** The uid of the stored Node, for objects that it owns; undefined until it is registered. */
  nodeUid(): string | undefined;
}

const requestTimeoutMs = 10_000;
/** Changes of the runtime that come closer together are published as one. */
const minSpacingMs = 500;
const jitter = 0.04;

/**
 * The service `node-status`: registers the node and keeps its status current (specification, sections 2.5 and 8). It
 * measures every nodeStatusUpdateFrequency and soon after the runtime's state changes, and sends what has changed, or
 * everything at the latest every nodeStatusReportFrequency. A deleted Node is created again. It never fails because a peer
 * cannot be reached.
 */
export function createNodeStatusService(options: NodeStatusOptions): NodeStatusService {
  const { clock, log, runtime, random = Math.random } = options;
  const frequencyMs = () => options.settings().updateFrequencyMs;
  const reporter = createReporter(options);
  return {
    name: 'node-status',
    dependsOn: options.dependsOn ?? [],
    onFailure: 'restart',
    nodeUid: reporter.nodeUid,
    async run(signal, ready) {
      const waker = createWaker(clock);
      using _watch = runtime.onStatusChange(() => waker.wake());
      using _images = runtime.onImagesChange(() => waker.wake());
      using _problems = options.onProblems?.(() => waker.wake());
      using _settings = options.onSettings?.(() => waker.wake());
      using _extra = options.onExtraResources?.(() => waker.wake());
      using _pressures = options.onPressures?.(() => waker.wake());
      using _volumes = options.volumesInUse?.onChange(() => waker.wake());
      const outage = createOutageLog('update the node’s status', clock, log);
      const backoff = createStartBackoff(clock, frequencyMs(), random);
      ready();
      while (!signal.aborted) {
        const startedMs = clock.monotonicMs();
        const failure = await reporter.update(signal);
        if (signal.aborted) return;
        if (failure !== undefined) {
          outage.failed(failure.error);
          const asked = Math.min(retryAfterMs(failure.error), frequencyMs());
          await clock.sleep(Math.max(backoff.next(), asked), signal);
          continue;
        }
        outage.succeeded();
        backoff.reset();
        const sinceMs = () => clock.monotonicMs() - startedMs;
        const periodMs = frequencyMs() * (1 + jitter * (2 * random() - 1));
        await waker.sleep(Math.max(periodMs - sinceMs(), 0), signal);
        await clock.sleep(Math.max(minSpacingMs - sinceMs(), 0), signal);
      }
    },
  };
}

const startMs = 30_000;

/** Waits up to the usual period; in the first half minute at most 1 s, because the control plane may be starting too. */
function createStartBackoff(clock: Clock, periodMs: number, random: () => number): Backoff {
  const bornMs = clock.monotonicMs();
  const quick = createBackoff({ initialMs: 200, maxMs: 1000, jitter: 0.2, random });
  const slow = createBackoff({ initialMs: 200, maxMs: periodMs, jitter: 0.2, random });
  return {
    next: () => (clock.monotonicMs() - bornMs < startMs ? quick : slow).next(),
    reset() {
      quick.reset();
      slow.reset();
    },
  };
}

interface Reporter {
  /** Measures and reports once; returns the failure, if any. */
  update(signal: AbortSignal): Promise<{ error: unknown } | undefined>;
  nodeUid(): string | undefined;
}

function createReporter(options: NodeStatusOptions): Reporter {
  const { nodeName, api, clock, log, settings } = options;
  const observe = createObserver(options);
  const count = createCounter(options.metrics);
  const measureConditions = createConditionGauge(options.metrics);
  let node: Node | undefined;
  let reportedMs: number | undefined;

  function record(result: SyncResult, startedMs: number): void {
    if (result.sent) reportedMs = startedMs;
    logResult(log, node, result);
    if (node === undefined) logOutdatedTaint(log, result);
    node = result.node;
    options.volumesInUse?.onNode(node);
    options.onNode?.(node);
    count(result.sent ? 'sent' : 'unchanged');
  }

  return {
    nodeUid: () => node?.metadata?.uid,
    async update(signal) {
      const startedMs = clock.monotonicMs();
      const { registration, reportFrequencyMs } = settings();
      try {
        const state = await observe(signal);
        measureConditions(state.findings);
        const wanted = {
          labels: nodeLabels(options.hostname, state.facts),
          registration,
          compose: (previous: Node['status']) => composeStatus(previous, state),
          force: reportedMs === undefined || startedMs - reportedMs >= reportFrequencyMs,
        };
        const context = { nodeName, api, clock, timeoutMs: requestTimeoutMs };
        record(await syncNode(context, wanted, signal), startedMs);
        return undefined;
      } catch (error) {
        if (!signal.aborted) count('failed');
        return { error };
      }
    },
  };
}

/** Collects the state of the node; facts that do not change are collected once. */
function createObserver(options: NodeStatusOptions): (signal: AbortSignal) => Promise<NodeState> {
  const { hostname, runtime, clock, log, port, settings, measure } = options;
  const { remarks = noRemarks, problems = noRemarks } = options;
  const collect = options.facts ?? ((signal) => collectFacts({ clock, log, signal }));
  const addresses = options.addresses ?? (() => listNodeAddresses({ hostname }));
  let facts: SystemFacts | undefined;
  return async (signal) => {
    facts ??= await collect(signal);
    const measured = await measure(signal);
    const condition = runtime.status();
    const { maxImages, eviction, reserved, ...bounds } = settings();
    return {
      facts,
      resources: withExtra(
        computeResources(measured, bounds, { minFree: eviction.hard, reserved }),
        options.extraResources?.(),
      ),
      findings: [
        ...findConditions(options.pressures(), condition, remarks(), problems()),
        ...(options.conditions?.() ?? []),
      ],
      addresses: addresses(),
      port: port(),
      runtime: condition,
      images: selectImages(runtime.images().images, maxImages),
      swapBytes: measured.swapBytes,
      volumesInUse: (previous) => options.volumesInUse?.compose(previous) ?? previous,
      nowMs: clock.now(),
    };
  };
}

const noRemarks = (): readonly string[] => [];

type Outcome = 'sent' | 'unchanged' | 'failed';

function createCounter(metrics: MetricsRegistry | undefined): (outcome: Outcome) => void {
  if (metrics === undefined) return () => undefined;
  const counter = new Counter({
    name: 'nodeward_node_status_rounds_total',
    help: 'Looks at the node, by what came of them: sent, unchanged or failed.',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  return (outcome) => counter.inc({ outcome });
}

/** Logs when the Node is created, adopted or replaced, and when its readiness changes. */
function logResult(log: Logger, before: Node | undefined, { node, how }: SyncResult): void {
  const { name, uid } = node.metadata ?? {};
  if (how === 'created')
    log.info({ node: name, uid }, before ? 'the Node was deleted; created again' : 'Node created');
  else if (before === undefined) log.info({ node: name, uid }, 'existing Node adopted');
  const [was, is] = [findReady(before), findReady(node)];
  if (is === undefined || was?.status === is.status) return;
  if (is.status === 'True') log.info('the node is Ready');
  else if (is.message?.startsWith(runtimeStartingMessage)) log.debug('the runtime has not been asked yet');
  else log.warn(`the node is not Ready: ${is.message ?? is.reason ?? 'no reason given'}`);
}

/** An agent may not change the taints of a Node that exists. */
function logOutdatedTaint(log: Logger, { node }: SyncResult): void {
  const { name } = node.metadata ?? {};
  if (saysRunsNoPods(node))
    log.warn(
      `the Node has the taint nodeward.io/runs-no-pods of an earlier agent, so schedulers pass it by, and its agent may not remove it: kubectl taint node ${name} nodeward.io/runs-no-pods-`,
    );
}

function findReady(node: Node | undefined) {
  return node?.status?.conditions?.find(({ type }) => type === 'Ready');
}
