import type { Type } from '../../api/schema/index.ts';
import {
  bool,
  double,
  duration,
  field,
  int32,
  int64,
  intOrString,
  list,
  map,
  quantity,
  string,
  struct,
} from '../../api/schema/index.ts';

/*
 * The fields of the reference's KubeletConfiguration (kubelet.config.k8s.io/v1beta1, as of its release 1.37) that have no
 * effect here. A file that was written for the reference is taken as it is, its values must have the right types, and
 * each such field is told in a warning, unless it asks for what is done anyway.
 */

interface Inert {
  /** Completes "has no effect here: …". */
  why: string;
  types: Readonly<Record<string, Type>>;
}

const memoryReservation = struct('MemoryReservation', {
  numaNode: field(1, int32, 'NUMA node.'),
  limits: field(2, map(quantity), 'What is reserved on it.'),
});
const shutdownPeriod = struct('ShutdownGracePeriodByPodPriority', {
  priority: field(1, int32, 'Least priority of the pods.'),
  shutdownGracePeriodSeconds: field(2, int64, 'Their time to end.'),
});
const moduleLevel = struct('VModuleItem', {
  filePattern: field(1, string, 'Which source files.'),
  verbosity: field(2, int32, 'Their level.'),
});
const logOutput = struct('OutputRoutingOptions', {
  splitStream: field(1, bool, 'Whether errors go elsewhere.'),
  infoBufferSize: field(2, quantity, 'Size of the buffer.'),
});
const logging = struct('LoggingConfiguration', {
  format: field(1, string, 'text or json.'),
  flushFrequency: field(2, intOrString, 'Between two flushes.'),
  verbosity: field(3, int32, 'The level.'),
  vmodule: field(4, list(moduleLevel), 'Levels by source file.'),
  options: field(
    5,
    struct('FormatOptions', { text: field(1, logOutput, 'Text.'), json: field(2, logOutput, 'JSON.') }),
    'Options by format.',
  ),
});

const groups: readonly Inert[] = [
  {
    why: 'the agent runs no pods',
    types: {
      staticPodURL: string,
      staticPodURLHeader: map(list(string)),
      podLogsDir: string,
      syncFrequency: duration,
      httpCheckFrequency: duration,
      clusterDomain: string,
      clusterDNS: list(string),
      podCIDR: string,
      podPidsLimit: int64,
      resolvConf: string,
      runOnce: bool,
      hairpinMode: string,
      failSwapOn: bool,
      memorySwap: struct('MemorySwapConfiguration', { swapBehavior: field(1, string, 'How swap is used.') }),
      containerLogMaxSize: string,
      containerLogMaxFiles: int32,
      containerLogMaxWorkers: int32,
      containerLogMonitorInterval: duration,
      configMapAndSecretChangeDetectionStrategy: string,
      allowedUnsafeSysctls: list(string),
      defaultPodSysctls: map(string),
      volumePluginDir: string,
      volumeStatsAggPeriod: duration,
      enableControllerAttachDetach: bool,
      crashLoopBackOff: struct('CrashLoopBackOffConfig', {
        maxContainerRestartPeriod: field(1, duration, 'The longest wait.'),
      }),
      userNamespaces: struct('UserNamespaces', { idsPerPod: field(1, int64, 'User ids of a pod.') }),
      shutdownGracePeriod: duration,
      shutdownGracePeriodCriticalPods: duration,
      shutdownGracePeriodByPodPriority: list(shutdownPeriod),
      localStorageCapacityIsolation: bool,
      makeIPTablesUtilChains: bool,
      iptablesMasqueradeBit: int32,
      iptablesDropBit: int32,
      streamingConnectionIdleTimeout: duration,
    },
  },
  {
    why: 'the agent pulls and removes no images',
    types: {
      serializeImagePulls: bool,
      maxParallelImagePulls: int32,
      registryPullQPS: int32,
      registryBurst: int32,
      imagePullCredentialsVerificationPolicy: string,
      preloadedImagesVerificationAllowlist: list(string),
      imageMinimumGCAge: duration,
      imageMaximumGCAge: duration,
      imageGCHighThresholdPercent: int32,
      imageGCLowThresholdPercent: int32,
    },
  },
  {
    why: 'the agent sets up no cgroups and assigns no resources',
    types: {
      kubeletCgroups: string,
      systemCgroups: string,
      cgroupRoot: string,
      cgroupsPerQOS: bool,
      cgroupDriver: string,
      failCgroupV1: bool,
      cpuCFSQuota: bool,
      cpuCFSQuotaPeriod: duration,
      singleProcessOOMKill: bool,
      cpuManagerPolicy: string,
      cpuManagerPolicyOptions: map(string),
      cpuManagerReconcilePeriod: duration,
      memoryManagerPolicy: string,
      reservedMemory: list(memoryReservation),
      memoryThrottlingFactor: double,
      memoryReservationPolicy: string,
      topologyManagerPolicy: string,
      topologyManagerScope: string,
      topologyManagerPolicyOptions: map(string),
      qosReserved: map(string),
      reservedSystemCPUs: string,
      systemReservedCgroup: string,
      kubeReservedCgroup: string,
      enforceNodeAllocatable: list(string),
      kernelMemcgNotification: bool,
    },
  },
  {
    why: 'the agent evicts no pods; thresholds count for the conditions of the node',
    types: { evictionMaxPodGracePeriod: int32 },
  },
  {
    why: 'everything is served over HTTPS on port, to callers who may',
    types: {
      readOnlyPort: int32,
      enableDebuggingHandlers: bool,
      enableContentionProfiling: bool,
      enableProfilingHandler: bool,
      enableDebugFlagsHandler: bool,
      enableSystemLogHandler: bool,
      enableSystemLogQuery: bool,
    },
  },
  {
    why: 'the agent offers the curves that its runtime has',
    types: { tlsCurvePreferences: list(int32) },
  },
  {
    why: 'certificates without files come from the control plane and are renewed in time',
    types: { rotateCertificates: bool, serverTLSBootstrap: bool },
  },
  { why: 'use --log-format and --verbose', types: { logging } },
  { why: 'set maxPods', types: { podsPerCore: int32 } },
  {
    why: 'nodeward has nothing like it',
    types: {
      eventRecordQPS: int32,
      eventBurst: int32,
      kubeAPIQPS: int32,
      kubeAPIBurst: int32,
      contentType: string,
      oomScoreAdj: int32,
      maxOpenFiles: int64,
      protectKernelDefaults: bool,
      showHiddenMetricsForVersion: string,
      tracing: struct('TracingConfiguration', {
        endpoint: field(1, string, 'Where traces go.'),
        samplingRatePerMillion: field(2, int32, 'How many are taken.'),
      }),
    },
  },
];

/** What is done anyway: to ask for it needs no warning. */
const asIs: Readonly<Record<string, unknown>> = {
  readOnlyPort: 0,
  rotateCertificates: true,
  serverTLSBootstrap: true,
  enableDebuggingHandlers: false,
  enableProfilingHandler: false,
  enableDebugFlagsHandler: false,
  enableSystemLogHandler: false,
  enableSystemLogQuery: false,
  enableContentionProfiling: false,
  runOnce: false,
};

/** Parts of fields that count otherwise. */
const inertParts: Readonly<Record<string, string>> = {
  'systemReserved.pid': 'process ids are no resource of a node',
  'kubeReserved.pid': 'process ids are no resource of a node',
};

export const inertFieldTypes: Readonly<Record<string, Type>> = Object.assign(
  {},
  ...groups.map(({ types }) => types),
);

const reasons: ReadonlyMap<string, string> = new Map([
  ...groups.flatMap(({ why, types }) => Object.keys(types).map((name) => [name, why] as const)),
  ...Object.entries(inertParts),
]);

/** Why stating `value` for a field, or a part of one, changes nothing; undefined where it counts or is so anyway. */
export function whyInert(path: string, value: unknown): string | undefined {
  return Object.hasOwn(asIs, path) && asIs[path] === value ? undefined : reasons.get(path);
}
