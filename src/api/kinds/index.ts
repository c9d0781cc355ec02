import { certificateSigningRequestKind, nodeSignerNames } from './certificates/signing-request.ts';
import { leaseKind } from './coordination/lease.ts';
import { namespaceKind } from './core/namespace.ts';
import { nodeKind } from './core/node.ts';
import { podKind } from './core/pod.ts';
import type { Kind } from './kind.ts';

export type { CertificateSigningRequest } from './certificates/signing-request.ts';
export { ageOf } from './columns.ts';
export type { Lease, LeaseSpec } from './coordination/lease.ts';
export type { Namespace } from './core/namespace.ts';
export type { Node, NodeAddress, NodeCondition, NodeStatus, NodeSystemInfo, Taint } from './core/node.ts';
export type { Pod } from './core/pod.ts';
export { defineKind, objectStruct } from './define.ts';
export {
  type ApiObject,
  apiVersionOf,
  type Cause,
  type CauseReason,
  type Column,
  groupName,
  type Kind,
  type ListOf,
  type SelectableField,
  type Subresource,
  type Verb,
} from './kind.ts';
export {
  type ListMeta,
  listMeta,
  type ObjectMeta,
  type OwnerReference,
  objectMeta,
} from './meta/object-meta.ts';
export { type Status, type StatusCause, type StatusDetails, status } from './meta/status.ts';
export { certificateSigningRequestKind, leaseKind, namespaceKind, nodeKind, nodeSignerNames, podKind };

/** Every kind that is served; to add one is to add it here. */
export const servedKinds: readonly Kind[] = [
  namespaceKind,
  nodeKind,
  podKind,
  leaseKind,
  certificateSigningRequestKind,
];
