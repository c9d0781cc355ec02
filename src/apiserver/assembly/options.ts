import type { FeatureGates } from '../../api/index.ts';
import type { Clock, Logger } from '../../base/index.ts';
import type { WebhookOptions } from '../authz/index.ts';
import type { NodeLifecycleSettings } from '../controllers/index.ts';
import type { HttpOptions } from '../http/index.ts';
import type { Keys } from '../pki/index.ts';
import type { DefaultTolerations, ServiceRanges } from '../registry/index.ts';
import type { SchedulerSettings } from '../scheduler/index.ts';
import type { EtcdSettings, OpenStorageOptions, StorageKind } from '../storage/index.ts';
import type { AuthenticationOptions } from './authentication.ts';
import type { AuditSettings } from './open-audit.ts';

export interface ApiServerOptions {
  /** Holds everything that is kept: `pki/`, `storage/`, `admin.kubeconfig`. */
  rootDir: string;
  groupSuffix: string;
  bindAddress: string;
  /** 0: the system chooses. */
  securePort: number;
  storage: StorageKind;
  /** The bounds of history: its length, and its size on disk; default 5 minutes and 256 MiB. */
  historyMs?: number;
  historyBytes?: number;
  /** Where objects are kept with `storage: 'etcd'`. */
  etcd?: EtcdSettings | undefined;
  /** How callers may say who they are, beside certificates and tokens of service accounts. */
  authentication?: AuthenticationOptions;
  /** Who else says what callers may do; default nobody beside roles. */
  authorization?: { webhook: WebhookOptions } | undefined;
  /** What is kept of requests; default nothing. */
  audit?: AuditSettings | undefined;
  /** How long an Event is kept after its last change; default an hour. */
  eventTtlMs?: number;
  /** The addresses and ports that services are given; default: those of the reference. */
  serviceRanges?: ServiceRanges;
  /** What pods tolerate that do not say it; default nothing. */
  defaultTolerations?: DefaultTolerations | undefined;
  /** How pods are given nodes; false: they are not. Default: those that name `default-scheduler`. */
  scheduler?: SchedulerSettings | false | undefined;
  /** Whether pods are made of Deployments and their like; default true. */
  workloadControllers?: boolean;
  /** How nodes are watched over. */
  nodeLifecycle?: NodeLifecycleSettings;
  /** Whether the controllers run in one server only, of several on one store. Default: with etcd. */
  leaderElection?: boolean;
  /** Default: the default of each feature. */
  featureGates?: FeatureGates;
  /** Whether clients are offered HTTP/2 beside HTTP/1.1; default false: many connections cost less without it. */
  http2?: boolean;
  /** How many requests are worked on at once; default 400 that read and 200 that write. */
  inFlight?: HttpOptions['inFlight'];
  clock: Clock;
  log: Logger;
  /** Default: in files below `rootDir`. */
  keys?: Keys;
  wrapStore?: OpenStorageOptions['wrapStore'];
  /** Default: a registry with the process's own figures in it. */
  metrics?: HttpOptions['metrics'];
  intercept?: HttpOptions['intercept'];
}
