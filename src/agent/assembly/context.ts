import type { NodeAddress } from '../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import type { EffectiveConfig, LiveConfig } from '../config/index.ts';
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
