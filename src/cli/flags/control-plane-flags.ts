import type { AuditFlags } from './audit-flags.ts';
import { auditOptions } from './audit-flags.ts';
import type { AuthenticationFlags } from './authentication-flags.ts';
import { authenticationOptions } from './authentication-flags.ts';
import type { AuthorizationFlags } from './authorization-flags.ts';
import { authorizationOptions } from './authorization-flags.ts';
import type { EtcdFlags } from './etcd-flags.ts';
import { etcdOptions } from './etcd-flags.ts';
import type { ControlPlaneFlags } from './flags.ts';
import { controlPlaneOptions } from './flags.ts';
import type { NodeLifecycleFlags } from './node-lifecycle-flags.ts';
import { nodeLifecycleOptions } from './node-lifecycle-flags.ts';

/** Every flag of a control plane but those of every program (root-dir, gates, log). */
export type AllControlPlaneFlags = ControlPlaneFlags &
  EtcdFlags &
  AuthenticationFlags &
  AuthorizationFlags &
  AuditFlags &
  NodeLifecycleFlags;

/** The same whether it runs apart or as the child of an agent. */
export const allControlPlaneOptions = () => [
  ...controlPlaneOptions(),
  ...etcdOptions(),
  ...authenticationOptions(),
  ...authorizationOptions(),
  ...auditOptions(),
  ...nodeLifecycleOptions(),
];
