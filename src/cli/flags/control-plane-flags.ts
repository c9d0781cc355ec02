import { Option } from 'commander';
import type { StorageKind } from '../../apiserver/index.ts';
import type { AdmissionFlags } from './admission-flags.ts';
import { admissionOptions } from './admission-flags.ts';
import type { AuditFlags } from './audit-flags.ts';
import { auditOptions } from './audit-flags.ts';
import type { AuthenticationFlags } from './authentication-flags.ts';
import { authenticationOptions } from './authentication-flags.ts';
import type { AuthorizationFlags } from './authorization-flags.ts';
import { authorizationOptions } from './authorization-flags.ts';
import { groupSuffixOption } from './common-flags.ts';
import type { EtcdFlags } from './etcd-flags.ts';
import { etcdOptions } from './etcd-flags.ts';
import type { NodeLifecycleFlags } from './node-lifecycle-flags.ts';
import { nodeLifecycleOptions } from './node-lifecycle-flags.ts';
import type { SchedulerFlags } from './scheduler-flags.ts';
import { schedulerOptions } from './scheduler-flags.ts';
import type { ServiceFlags } from './service-flags.ts';
import { serviceOptions } from './service-flags.ts';
import {
  durationParser,
  parseByteSize,
  parseDomain,
  parseIpAddress,
  parsePort,
  parseTimeToLive,
  wholeNumberParser,
} from './values.ts';
import type { WorkloadFlags } from './workload-flags.ts';
import { workloadOptions } from './workload-flags.ts';

/** The flags of a control plane, without those of other programs too (root dir, feature gates, log). */
export type ControlPlaneFlags = ServingFlags &
  EtcdFlags &
  AuthenticationFlags &
  AuthorizationFlags &
  AuditFlags &
  AdmissionFlags &
  ServiceFlags &
  SchedulerFlags &
  WorkloadFlags &
  NodeLifecycleFlags;

/** For a control plane that runs by itself, and for one that an agent starts. */
export const controlPlaneOptions = () => [
  ...servingOptions(),
  ...etcdOptions(),
  ...authenticationOptions(),
  ...authorizationOptions(),
  ...auditOptions(),
  ...admissionOptions(),
  ...serviceOptions(),
  ...schedulerOptions(),
  ...workloadOptions(),
  ...nodeLifecycleOptions(),
];

interface ServingFlags {
  groupSuffix: string;
  taintDomain: string;
  bindAddress: string;
  securePort: number;
  http2: boolean;
  storage: StorageKind;
  /** Milliseconds. */
  historyWindow: number;
  historyBytes: number;
  maxRequestsInflight: number;
  maxMutatingRequestsInflight: number;
  /** Milliseconds. */
  eventTtl: number;
}

const storageKinds = ['sqlite', 'etcd', 'memory'] as const satisfies readonly StorageKind[];
const parseRequestLimit = wholeNumberParser(1, 10_000);

const servingOptions = () => [
  groupSuffixOption(),
  new Option('--taint-domain <domain>', 'domain prefix of node taints')
    .default('kubernetes.io')
    .argParser(parseDomain),
  new Option('--bind-address <ip>', 'address that the API listens on')
    .default('127.0.0.1')
    .argParser(parseIpAddress),
  new Option('--secure-port <port>', 'port that the API listens on').default(6443).argParser(parsePort),
  new Option('--http2', 'offer HTTP/2 beside HTTP/1.1').default(false),
  new Option('--storage <kind>', 'where objects are stored').choices(storageKinds).default('sqlite'),
  new Option('--history-window <duration>', 'how long past states can be read and watches can resume')
    .default(300_000, '5m')
    .argParser(durationParser('10s', '24h', '5m')),
  new Option('--history-bytes <size>', 'disk space for past states; beyond it the window shrinks')
    .default(256 * 1024 ** 2, '256Mi')
    .argParser(parseByteSize),
  new Option('--max-requests-inflight <count>', 'max reading requests in flight')
    .default(400)
    .argParser(parseRequestLimit),
  new Option('--max-mutating-requests-inflight <count>', 'max writing requests in flight')
    .default(200)
    .argParser(parseRequestLimit),
  new Option('--event-ttl <duration>', 'how long an Event is kept after its last change')
    .default(3600_000, '1h')
    .argParser(parseTimeToLive),
];
