import type { MetricsRegistry } from '../../base/index.ts';
import { Counter, createMetrics, Gauge, Histogram } from '../../base/index.ts';
import type { PluginSocket } from './types.ts';

/** Metrics of the registration of plugins. */
export interface PluginMetrics {
  /** `seconds` since the plugin was first asked for its info. */
  registered(type: string, seconds: number): void;
  /** `type` is undefined when the plugin did not state it. */
  failed(type: string | undefined): void;
  deregistered(type: string): void;
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120];

/**
 * Registers the metrics; without a registry they are counted and not exposed. The type that a plugin states becomes a label
 * only when it is one of `types`.
 */
export function pluginMetrics(
  types: readonly string[],
  sockets: () => readonly PluginSocket[],
  registry: MetricsRegistry = createMetrics(),
): PluginMetrics {
  const registers = [registry];
  const labelOf = (type: string | undefined) =>
    type !== undefined && types.includes(type) ? type : 'unknown';
  const registrations = new Counter({
    name: 'nodeward_plugin_registrations_total',
    help: 'Tries to register a plugin, by the type of plugin and what came of it.',
    labelNames: ['type', 'result'],
    registers,
  });
  const deregistrations = new Counter({
    name: 'nodeward_plugin_deregistrations_total',
    help: 'Plugins that were deregistered because their socket was removed or replaced.',
    labelNames: ['type'],
    registers,
  });
  const took = new Histogram({
    name: 'nodeward_plugin_registration_seconds',
    help: 'How long registering took, of tries that did: from the question who is there to the word that it is done.',
    labelNames: ['type'],
    buckets: seconds,
    registers,
  });
  new Gauge({
    name: 'nodeward_plugin_sockets',
    help: 'Sockets in the folder for plugins, by the type of plugin and the state of its registration.',
    labelNames: ['type', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { plugin, state } of sockets()) this.inc({ type: labelOf(plugin?.type), state });
    },
  });
  for (const type of types) registrations.inc({ type, result: 'registered' }, 0);
  return {
    registered(type, duration) {
      registrations.inc({ type: labelOf(type), result: 'registered' });
      took.observe({ type: labelOf(type) }, duration);
    },
    failed: (type) => registrations.inc({ type: labelOf(type), result: 'failed' }),
    deregistered: (type) => deregistrations.inc({ type: labelOf(type) }),
  };
}
