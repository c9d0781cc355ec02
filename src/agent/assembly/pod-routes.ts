import type { Evictor } from '../eviction/index.ts';
import { explainPressures, limitsRoute } from '../eviction/index.ts';
import { explainRoutes } from '../pods/explain/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import { logRoutes } from '../pods/log-reader/index.ts';
import { streamRoutes } from '../pods/streams/index.ts';
import type { Connection } from '../runtime/index.ts';
import { streamCalls } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { ExecutorSources } from './assemble-executor.ts';
import type { AssembledProbes } from './assemble-probes.ts';
import type { AgentContext } from './context.ts';
import type { NodeFacts } from './node-facts.ts';
import type { ExplainParts } from './pod-explainer.ts';
import { createExplainer, findFullDisks } from './pod-explainer.ts';

export interface PodRouteParts
  extends Pick<ExplainParts, 'manager' | 'teller' | 'timeline' | 'waits' | 'volumes'> {
  readonly probes: AssembledProbes;
  readonly view: PodRuntimeView;
  readonly facts: Pick<NodeFacts, 'resources'>;
  readonly evictor: Pick<Evictor, 'report'>;
  /** To the runtime, for streams. */
  readonly connection: Connection;
}

/** What the agent serves of the pods that it runs: why they are as they are, what their containers write, streams into these. */
export function createPodRoutes(
  context: AgentContext,
  { runtime, pods }: Pick<ExecutorSources, 'runtime' | 'pods'>,
  { manager, teller, timeline, waits, volumes, probes, view, facts, evictor, connection }: PodRouteParts,
): readonly AgentRoute[] {
  const { config, live, nodeName, options } = context;
  const { clock } = options;
  const find = (namespace: string, name: string) =>
    pods.source.pods().find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name);
  const pressures = () => explainPressures(evictor.report(), clock);
  const explainer = createExplainer({
    ...{ manager, teller, timeline, waits, probes, view, volumes, pressures },
    isComplete: pods.isComplete,
    refusedManifests: pods.refusedManifests,
    disks: findFullDisks(context, runtime),
  });
  return [
    ...explainRoutes(explainer),
    limitsRoute({
      ...{ nodeName, pressures, resources: () => facts.resources() },
      eviction: () => live.current.eviction,
    }),
    probes.route,
    ...logRoutes({
      ...{ view, clock, find, logsDir: config.logs.folder },
      statusOf: ({ metadata, status = {} }) => teller.statusOf(metadata?.uid ?? '') ?? status,
      stallMs: () => live.current.server.streamIdleMs,
    }),
    ...streamRoutes({
      ...{ view, find, clock, calls: streamCalls(connection, config.runtimeRequestTimeoutMs) },
      idleMs: () => live.current.server.streamIdleMs,
    }),
  ];
}
