import type { PodRuntimeView } from '../pods/index.ts';
import { logRoutes } from '../pods/log-reader/index.ts';
import { streamRoutes } from '../pods/streams/index.ts';
import type { NodeTeller } from '../pods/worker/index.ts';
import type { Connection } from '../runtime/index.ts';
import { streamCalls } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import type { PodParts } from './assemble-pods.ts';
import type { AgentContext } from './context.ts';

/** What containers have written. */
export function createLogRoutes(
  { config, live, options: { clock } }: AgentContext,
  { source }: PodParts,
  { view, teller }: { view: PodRuntimeView; teller: NodeTeller },
): readonly AgentRoute[] {
  return logRoutes({
    ...{ view, clock, find: findPod(source), logsDir: config.logs.folder },
    statusOf: ({ metadata, status = {} }) => teller.statusOf(metadata?.uid ?? '') ?? status,
    stallMs: () => live.current.server.streamIdleMs,
  });
}

/** Streams into containers. */
export function createStreamRoutes(
  { config, live, options: { clock } }: AgentContext,
  { source }: PodParts,
  { view, connection }: { view: PodRuntimeView; connection: Connection },
): readonly AgentRoute[] {
  return streamRoutes({
    ...{ view, find: findPod(source), calls: streamCalls(connection, config.runtimeRequestTimeoutMs) },
    idleMs: () => live.current.server.streamIdleMs,
    clock,
  });
}

const findPod = (source: PodParts['source']) => (namespace: string, name: string) =>
  source.pods().find(({ metadata }) => metadata?.namespace === namespace && metadata.name === name);
