import type { Infer } from '../../schema/index.ts';
import { field, int32, microTime, string, struct } from '../../schema/index.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import type { Cause } from '../kind.ts';

const leaseSpec = struct('LeaseSpec', {
  holderIdentity: field(1, string, 'Who holds the lease.'),
  leaseDurationSeconds: field(2, int32, 'How long after renewTime the lease may be taken over.'),
  acquireTime: field(3, microTime, 'When the holder acquired it.'),
  renewTime: field(4, microTime, 'When the holder last renewed it.'),
  leaseTransitions: field(5, int32, 'How often the holder has changed.'),
  strategy: field(6, string, 'How the leader is chosen in coordinated election.'),
  preferredHolder: field(7, string, 'Whom the holder should hand over to.'),
});

const root = objectStruct('Lease', { spec: field(2, leaseSpec, 'The lease.') });

export interface LeaseSpec extends Infer<typeof leaseSpec> {}
/** A claim that is renewed as long as its holder lives; a node's heartbeat. */
export interface Lease extends Infer<typeof root> {}

function validate(lease: Lease): Cause[] {
  const causes: Cause[] = [];
  const { leaseDurationSeconds, leaseTransitions } = lease.spec ?? {};
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    causes.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    causes.push(invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'));
  }
  if (lease.spec?.preferredHolder && !lease.spec.strategy) {
    const message = 'Forbidden: may only be specified if `strategy` is defined';
    causes.push({ reason: 'FieldValueForbidden', field: 'spec.preferredHolder', message });
  }
  return causes;
}

function invalid(path: string, value: number, message: string): Cause {
  return { reason: 'FieldValueInvalid', field: path, message: `Invalid value: ${value}: ${message}` };
}

export const leaseKind = defineKind<Lease>({
  group: 'coordination',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  singular: 'lease',
  namespaced: true,
  root,
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
