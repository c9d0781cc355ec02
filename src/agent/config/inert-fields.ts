import { featureGates, hasNoEffect } from '../../api/index.ts';
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
import type { Fields } from './field.ts';
import type { Entry, LocatedMap } from './located.ts';
import { entriesOf, formatOrigin, toPlain } from './located.ts';

/*
 * The fields of the reference's KubeletConfiguration (kubelet.config.k8s.io/v1beta1, as of its release 1.37) that have no
 * effect here. A file that was written for the reference is taken as it is, its values must have the right types, and
 * each such field is warned of, unless it asks for what is done anyway.
 */

interface InertField {
  readonly schema: Type;
  /** Completes "has no effect here: …". */
  readonly why: string;
  /** What is done anyway: to ask for it needs no warning. */
  readonly harmless?: unknown;
}

type Described = Type | Omit<InertField, 'why'>;

const harmless = (schema: Type, value: unknown) => ({ schema, harmless: value });

function inert(why: string, fields: Readonly<Record<string, Described>>): Record<string, InertField> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, each]) => [name, { ...('t' in each ? { schema: each } : each), why }]),
  );
}

const memoryReservation = struct('MemoryReservation', {
  numaNode: field(1, int32, 'NUMA node.'),
  limits: field(2, map(quantity), 'What is reserved on it.'),
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

/** By name, in groups of one reason. */
export const inertFields: Readonly<Record<string, InertField>> = {
  ...inert('the agent runs until it is stopped', { runOnce: harmless(bool, false) }),
  ...inert('the network of pods, and its rules in the kernel, are up to the network plugin', {
    hairpinMode: harmless(string, 'none'),
    makeIPTablesUtilChains: harmless(bool, false),
    iptablesMasqueradeBit: int32,
    iptablesDropBit: int32,
  }),
  ...inert('pods get no swap', {
    memorySwap: harmless(
      struct('MemorySwapConfiguration', { swapBehavior: field(1, string, 'How swap is used.') }),
      { swapBehavior: 'NoSwap' },
    ),
  }),
  ...inert('the objects that pods name are watched, one by one', {
    configMapAndSecretChangeDetectionStrategy: string,
  }),
  ...inert('there are no FlexVolumes', { volumePluginDir: string }),
  ...inert('volumes are measured when somebody asks', { volumeStatsAggPeriod: duration }),
  ...inert('volumes are attached by a controller, never by the agent', {
    enableControllerAttachDetach: harmless(bool, true),
  }),
  ...inert('each pod has a cgroup of its own, below that of its class', {
    cgroupsPerQOS: harmless(bool, true),
  }),
  ...inert('the agent moves no processes but those of pods', {
    kubeletCgroups: string,
    systemCgroups: string,
  }),
  ...inert('containers share the processors and the memory of the node by their requests and limits alone', {
    cpuManagerPolicy: harmless(string, 'none'),
    cpuManagerPolicyOptions: map(string),
    cpuManagerReconcilePeriod: duration,
    memoryManagerPolicy: harmless(string, 'None'),
    reservedMemory: list(memoryReservation),
    memoryThrottlingFactor: double,
    memoryReservationPolicy: harmless(string, 'None'),
    topologyManagerPolicy: harmless(string, 'none'),
    topologyManagerScope: harmless(string, 'container'),
    topologyManagerPolicyOptions: map(string),
    qosReserved: map(string),
    reservedSystemCPUs: string,
  }),
  ...inert('memory is looked at each second in any case while it is short', {
    kernelMemcgNotification: harmless(bool, false),
  }),
  ...inert('everything is served over HTTPS on port, to callers who may', {
    readOnlyPort: harmless(int32, 0),
    enableDebuggingHandlers: harmless(bool, false),
    enableContentionProfiling: harmless(bool, false),
    enableProfilingHandler: harmless(bool, false),
    enableDebugFlagsHandler: harmless(bool, false),
    enableSystemLogHandler: harmless(bool, false),
    enableSystemLogQuery: harmless(bool, false),
  }),
  ...inert('the agent offers the curves that its runtime has', { tlsCurvePreferences: list(int32) }),
  ...inert('certificates without files come from the control plane and are renewed in time', {
    rotateCertificates: harmless(bool, true),
    serverTLSBootstrap: harmless(bool, true),
  }),
  ...inert('use --log-format and --verbose', { logging }),
  ...inert('Events that repeat are counted up, and limited by the object that they are about', {
    eventRecordQPS: int32,
    eventBurst: int32,
  }),
  ...inert('the agent sends what has changed and nothing else, in the form that the server has', {
    kubeAPIQPS: int32,
    kubeAPIBurst: int32,
    contentType: string,
  }),
  ...inert('the unit of systemd sets it (systemctl edit nodeward)', {
    oomScoreAdj: int32,
    maxOpenFiles: int64,
  }),
  ...inert('the agent changes no parameters of the kernel', { protectKernelDefaults: harmless(bool, true) }),
  ...inert('nodeward has nothing like it', {
    showHiddenMetricsForVersion: string,
    tracing: struct('TracingConfiguration', {
      endpoint: field(1, string, 'Where traces go.'),
      samplingRatePerMillion: field(2, int32, 'How many are taken.'),
    }),
  }),
};

/** A warning for each value of the merged configuration that is known and changes nothing here. */
export function inertWarnings(fields: Fields, merged: LocatedMap): string[] {
  const warnings = [...merged.entries].flatMap(([name, entry]) => {
    if (isDefault(entry)) return [];
    const known = Object.hasOwn(inertFields, name) ? inertFields[name] : undefined;
    if (known !== undefined) {
      const isHarmless =
        'harmless' in known && JSON.stringify(known.harmless) === JSON.stringify(toPlain(entry.value));
      return isHarmless ? [] : [warning(name, entry, known.why)];
    }
    const keys = Object.hasOwn(fields, name) ? fields[name]?.inertKeys : undefined;
    return [...entriesOf(merged, name)].flatMap(([key, inner]) => {
      const why = keys?.[key];
      return why === undefined || isDefault(inner) ? [] : [warning(`${name}.${key}`, inner, why)];
    });
  });
  return [...warnings, ...gateWarnings(merged)];
}

const isDefault = ({ keyAt }: Entry) => keyAt.kind === 'default';

const warning = (path: string, { keyAt }: Entry, why: string) =>
  `${formatOrigin(keyAt)}: ${path} has no effect here: ${why}`;

function gateWarnings(merged: LocatedMap): string[] {
  return [...entriesOf(merged, 'featureGates')].flatMap(([name, entry]) => {
    const why = isDefault(entry) ? undefined : whyWithoutEffect(name, entry);
    return why === undefined ? [] : [warning(`featureGates.${name}`, entry, why)];
  });
}

/** Features of the control plane are set for it by its own flags only. */
function whyWithoutEffect(name: string, { keyAt }: Entry): string | undefined {
  if (hasNoEffect(name)) return 'it is a feature of the reference that is not switched here';
  const isOfOther = keyAt.kind === 'file' && gateParts.get(name) === 'apiserver';
  return isOfOther ? 'it is of the control plane; use --feature-gates' : undefined;
}

const gateParts = new Map(
  Object.entries(featureGates).map(([name, { part }]): [string, string] => [name, part]),
);
