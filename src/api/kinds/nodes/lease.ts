import { checkQualifiedName } from '../../names/index.ts';
import type { Infer } from '../../schema/index.ts';
import { field, int32, microTime, string, struct } from '../../schema/index.ts';
import { forbiddenValue, invalidUnless, invalidValue, unsupportedValue } from '../cause.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';

const leaseSpec = struct('LeaseSpec', {
  holderIdentity: field(1, string, 'Who holds the lease.', { pointer: true }),
  leaseDurationSeconds: field(2, int32, 'How long after renewTime the lease may be taken over.', {
    pointer: true,
  }),
  acquireTime: field(3, microTime, 'When the holder acquired it.'),
  renewTime: field(4, microTime, 'When the holder last renewed it.'),
  leaseTransitions: field(5, int32, 'How often the holder has changed.', { pointer: true }),
  strategy: field(6, string, 'How the leader is chosen in coordinated election.', { pointer: true }),
  preferredHolder: field(7, string, 'Whom the holder should hand over to.', { pointer: true }),
});

const root = objectStruct('Lease', { spec: field(2, leaseSpec, 'The lease.', { default: {} }) });

export interface LeaseSpec extends Infer<typeof leaseSpec> {}
/** A claim that its holder renews as long as it lives; the heartbeat of a node. */
export interface Lease extends Infer<typeof root> {}

const strategies = ['OldestEmulationVersion'];

function validate({ spec = {} }: Lease): Cause[] {
  const { leaseDurationSeconds = 1, leaseTransitions = 0, strategy, preferredHolder } = spec;
  const causes: Cause[] = strategy === undefined ? [] : strategyCauses(strategy);
  if (leaseDurationSeconds <= 0) {
    causes.push(invalidValue('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions < 0) {
    const detail = 'must be greater than or equal to 0';
    causes.push(invalidValue('spec.leaseTransitions', leaseTransitions, detail));
  }
  if (preferredHolder && !strategy) {
    causes.push(forbiddenValue('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return causes;
}

/** Coordinated election is no feature here; its fields stay only where they are already, as in the reference without it. */
function withoutElection(next: Lease, old: Lease | undefined): Lease {
  if (next.spec === undefined) return next;
  const { strategy, preferredHolder, ...spec } = next.spec;
  if (strategy === undefined && preferredHolder === undefined) return next;
  return {
    ...next,
    spec: {
      ...spec,
      ...(strategy === undefined || old?.spec?.strategy === undefined ? {} : { strategy }),
      ...(preferredHolder === undefined || old?.spec?.preferredHolder === undefined
        ? {}
        : { preferredHolder }),
    },
  };
}

/** A strategy of the reference, or a custom one that begins with a domain. */
function strategyCauses(strategy: string): Cause[] {
  const field = 'spec.strategy';
  if (strategy.includes('/')) return invalidUnless(field, strategy, checkQualifiedName(strategy));
  return strategies.includes(strategy) ? [] : [unsupportedValue(field, strategy, strategies)];
}

export const leaseKind = defineKind<Lease>({
  group: 'coordination',
  version: 'v1',
  kind: 'Lease',
  doc: "A claim that is renewed as long as its holder lives; a node's heartbeat is one.",
  resource: 'leases',
  singular: 'lease',
  namespaced: true,
  createOnUpdate: true,
  unconditionalUpdate: false,
  root,
  prepare: withoutElection,
  validate,
  columns: [
    {
      name: 'Holder',
      type: 'string',
      description: 'Who holds the lease.',
      priority: 0,
      value: (lease) => lease.spec?.holderIdentity ?? '',
    },
    ageColumn,
  ],
});
