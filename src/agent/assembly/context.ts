import type { NodeAddress } from '../../api/index.ts';
import type { Clock, Logger, MetricsRegistry, Service } from '../../base/index.ts';
import type { EffectiveConfig, LiveConfig } from '../config/index.ts';
import type { CallMetrics, Connection } from '../runtime/index.ts';
import { defaultEndpoints, measureCalls, openConnection } from '../runtime/index.ts';
import type { AgentOptions } from './options.ts';

/** What the agent's parts are assembled from. */
export interface AgentContext {
  options: AgentOptions;
  /** The configuration at the start. */
  config: EffectiveConfig;
  /** The current configuration. */
  live: LiveConfig;
  nodeName: string;
  hostname: string;
  /** Returns the names and addresses by which this node is currently reached. */
  addresses(): readonly string[];
  /** The same with their types, for the Node. */
  nodeAddresses(): readonly NodeAddress[];
  metrics: MetricsRegistry;
  /** Makes the runtime behind a socket this agent's, or rejects; connections call it. */
  claim(socket: string): Promise<void>;
  /** Closed, in reverse, after the last service has ended. */
  stack: AsyncDisposableStack;
}

/** The clock, and a log that names the part. */
export function part({ options }: AgentContext, name: string): { clock: Clock; log: Logger } {
  return { clock: options.clock, log: options.log.child({ part: name }) };
}

/** A service whose failure ends nothing: it is restarted with backoff. */
export function restartedService(name: string, dependsOn: readonly string[], run: Service['run']): Service {
  return { name, dependsOn, onFailure: 'restart', run };
}

/**
 * Opens a connection to the runtime, or to its image service, which may be another one; it is closed with the agent. What takes long
 * has one of its own, so that it delays nothing else. Calls are counted in `metrics`, where there are any.
 */
export function openRuntimeConnection(
  { config, options, stack, claim }: AgentContext,
  service: 'runtime' | 'images',
  metrics?: CallMetrics,
): Connection {
  const { containerRuntimeEndpoint, imageServiceEndpoint } = config;
  const endpoint = (service === 'images' && imageServiceEndpoint) || containerRuntimeEndpoint;
  const connection = stack.use(openConnection(endpoint === '' ? defaultEndpoints : [endpoint], { claim }));
  return metrics === undefined ? connection : measureCalls(connection, metrics, options.clock);
}
