import { invalidValue, tooManyItems } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { hasSameMeaning } from '../pod-validation/difference.ts';
import { statusPart } from '../workloads/display.ts';
import { claimSpecCauses } from './causes.ts';
import type { ResourceClaim, ResourceClaimSpec } from './description.ts';
import { resourceClaimRoot } from './description.ts';

const usersLimit = 256;

/** Of a request that does not say how many devices, one is meant; and a toleration without operator compares. */
export function withClaimDefaults(spec: ResourceClaimSpec): ResourceClaimSpec {
  const { requests } = spec.devices ?? {};
  if (requests === undefined) return spec;
  const settled = requests.map(({ exactly, firstAvailable, ...request }) => ({
    ...request,
    ...(exactly === undefined ? {} : { exactly: withCount(exactly) }),
    ...(firstAvailable === undefined ? {} : { firstAvailable: firstAvailable.map(withCount) }),
  }));
  return { ...spec, devices: { ...spec.devices, requests: settled } };
}

interface Counted {
  allocationMode?: string;
  count?: number;
  tolerations?: { operator?: string }[];
}

function withCount<T extends Counted>(wanted: T): T {
  const allocationMode = wanted.allocationMode || 'ExactCount';
  const { tolerations } = wanted;
  return {
    ...wanted,
    allocationMode,
    ...(allocationMode === 'ExactCount' && !wanted.count ? { count: 1 } : {}),
    ...(tolerations === undefined
      ? {}
      : { tolerations: tolerations.map((each) => ({ ...each, operator: each.operator || 'Equal' })) }),
  };
}

function validate({ spec, status = {} }: ResourceClaim, old: ResourceClaim | undefined): Cause[] {
  const { reservedFor = [], allocation } = status;
  const isChanged = old !== undefined && !hasSameMeaning(resourceClaimRoot.fields.spec.type, spec, old.spec);
  const before = old?.status?.allocation;
  const isMoved =
    before !== undefined && allocation !== undefined && !hasSameMeaning(allocationType, allocation, before);
  return [
    ...(old === undefined ? claimSpecCauses(spec ?? {}, 'spec') : []),
    ...(isChanged ? [invalidValue('spec', spec, 'field is immutable')] : []),
    ...(reservedFor.length > usersLimit
      ? [tooManyItems('status.reservedFor', reservedFor.length, usersLimit)]
      : []),
    ...(reservedFor.length > 0 && allocation === undefined
      ? [invalidValue('status.reservedFor', reservedFor, 'may not be specified when `allocated` is not set')]
      : []),
    ...(isMoved ? [invalidValue('status.allocation', allocation, 'field is immutable')] : []),
  ];
}

const allocationType = resourceClaimRoot.fields.status.type.fields.allocation.type;

function stateText({ metadata, status }: ResourceClaim): string {
  const { allocation, reservedFor = [] } = status ?? {};
  const states = [
    ...(metadata?.deletionTimestamp === undefined ? [] : ['deleted']),
    ...(allocation === undefined ? ['pending'] : ['allocated']),
    ...(reservedFor.length > 0 ? ['reserved'] : []),
  ];
  return states.join(',');
}

/** Devices that pods use. */
export const resourceClaimKind = defineKind<ResourceClaim>({
  group: 'resource',
  version: 'v1',
  kind: 'ResourceClaim',
  doc: 'Devices that pods of its namespace use, wanted and given.',
  resource: 'resourceclaims',
  singular: 'resourceclaim',
  namespaced: true,
  root: resourceClaimRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: (claim) => (claim.spec === undefined ? claim : { ...claim, spec: withClaimDefaults(claim.spec) }),
  validate,
  columns: [textColumn('State', 0, 'Whether the devices are given and used.', stateText), ageColumn],
});
