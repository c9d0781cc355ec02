import type { Eviction, Status } from '../../../api/index.ts';
import { evictionBody, podKind } from '../../../api/index.ts';
import type { Operation } from '../types.ts';
import type { Deletion } from '../write/deletion-plan.ts';
import { propagationPolicies, settleGrace } from '../write/deletion-plan.ts';

const success: Status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/**
 * Takes a pod off its node (pods/eviction): deletes it as its options say. Nothing here limits how many pods of a
 * workload may be gone at a time. Throws what a deletion throws.
 */
export const podEviction: Operation<Eviction> = {
  body: evictionBody,
  async run({ registry, namespace, name, body, context }) {
    const dryRun = context.dryRun || (body.deleteOptions?.dryRun ?? []).length > 0;
    await registry.of(podKind).delete(namespace, name, deletionOf(body), { ...context, dryRun });
    return { status: success };
  },
};

function deletionOf({ deleteOptions = {} }: Eviction): Deletion {
  const { gracePeriodSeconds, preconditions } = deleteOptions;
  const policy = propagationPolicies.find((known) => known === deleteOptions.propagationPolicy);
  return {
    ...preconditions,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: settleGrace(gracePeriodSeconds) }),
    ...(policy === undefined ? {} : { propagationPolicy: policy }),
  };
}
