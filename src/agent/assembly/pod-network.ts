import { ApiRelay, apiAddressForPods } from '../api-relay/index.ts';
import type { Identity } from '../identity/index.ts';
import { PodCidr } from '../node/index.ts';
import type { PodTimeline } from '../pods/explain/index.ts';
import type { PodRuntimeView } from '../pods/index.ts';
import type { Connection, Runtime } from '../runtime/index.ts';
import { RuntimeError, RuntimeService } from '../runtime/index.ts';
import { hostIpsOf } from './assemble-executor.ts';
import type { AgentContext } from './context.ts';
import { part } from './context.ts';

/** Passes connections of pods on to an API that listens where they do not reach it. */
export function createRelay(
  context: AgentContext,
  { identity }: { readonly identity: Pick<Identity, 'api'> },
  view: Pick<PodRuntimeView, 'pods'>,
): ApiRelay {
  const isOfPod = (ip: string) =>
    view.pods().some(({ sandboxes }) => sandboxes.some(({ ips }) => ips.includes(ip)));
  return new ApiRelay({
    where: () => apiAddressForPods(identity.api.value?.server, hostIpsOf(context)),
    ca: () => identity.api.value?.ca ?? '',
    onChange: (listener) => identity.api.onChange(listener),
    isOfNode: (ip) => hostIpsOf(context).includes(ip) || isOfPod(ip),
    ...part(context, 'api-relay'),
  });
}

/** That pods cannot reach the API stands among what happened to each of them. */
export function withProblem(timeline: PodTimeline, relay: ApiRelay): Pick<PodTimeline, 'entries'> {
  return {
    entries(uid) {
      const { problem } = relay;
      const entries = timeline.entries(uid);
      if (problem === undefined) return entries;
      const { sinceMs, message } = problem;
      return [...entries, { atMs: sinceMs, sinceMs, what: message, count: 1 }];
    },
  };
}

/** Tells the runtime which addresses its pods may have. */
export function createPodCidr(context: AgentContext, connection: Connection, runtime: Runtime): PodCidr {
  const { pods, runtimeRequestTimeoutMs: deadlineMs } = context.config;
  return new PodCidr({
    configured: pods.podCidrs,
    async send(podCidr, cancel) {
      const request = { runtimeConfig: { networkConfig: { podCidr } } };
      await connection.call(RuntimeService.method.updateRuntimeConfig, request, { deadlineMs, cancel });
    },
    isRefused: (error) => error instanceof RuntimeError && error.reason === 'unimplemented',
    onRuntimeStart: (listener) => runtime.onStatusChange(({ ready }) => ready && listener()),
    ...part(context, 'pod-cidr'),
  });
}
