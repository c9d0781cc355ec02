import type { Pod } from '../../api/index.ts';
import type { Service } from '../../base/index.ts';
import type { NodeTeller } from '../pods/worker/index.ts';
import type { PodProbes } from '../probes/index.ts';
import { ProbeCommands, ProbeMetrics, Prober } from '../probes/index.ts';
import type { PodCalls } from '../runtime/index.ts';
import type { AgentRoute } from '../server/index.ts';
import { metricsRoute } from '../server/index.ts';
import type { ExecutorSources } from './assemble-executor.ts';
import { createStartLimit } from './assemble-executor.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

export interface AssembledProbes extends PodProbes {
  readonly run: Service['run'];
  /** `/metrics/probes`, as the reference has it. */
  readonly route: AgentRoute;
}

/** Assembles what probes the containers of this node. */
export function createProber(
  context: AgentContext,
  { checkpointer }: Pick<ExecutorSources, 'checkpointer'>,
  { calls, teller }: { calls: Pick<PodCalls, 'execSync'>; teller: Pick<NodeTeller, 'event'> },
): AssembledProbes {
  const { clock } = context.options;
  const metrics = new ProbeMetrics();
  const prober = new Prober({
    ...{ calls, metrics },
    commands: new ProbeCommands(clock, createStartLimit(clock)),
    frozen: {
      has: (containerId) => checkpointer.isUnderWay(containerId),
      onBegin: (listener) => checkpointer.onBegin(listener),
    },
    report: (pod: Pod, happening, container) => teller.event(pod, happening, container),
    ...part(context, 'probes'),
  });
  return {
    run: prober.run,
    route: { ...metricsRoute(metrics.registry), path: '/metrics/probes' },
    follow: (owner, targets) => prober.follow(owner, targets),
    waitsOf: (podUid) => prober.waitsOf(podUid),
    forget: (podUid) => prober.forget(podUid),
    onChange: prober.onChange,
  };
}
