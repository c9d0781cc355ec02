import { dirname, resolve } from 'node:path';
import type { FeatureGates, Taint } from '../../api/index.ts';
import { resolveGates } from '../../api/index.ts';
import { isRecord } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { CheckpointSettings } from '../checkpoint/index.ts';
import type { Eviction, Reserved } from '../node/index.ts';
import type { ServingFileNames } from '../server/index.ts';
import { readQuantity } from './amounts.ts';
import { checkpointSettings } from './checkpoint-section.ts';
import { defaultValues } from './defaults.ts';
import type { DeviceManagerSettings } from './device-manager-section.ts';
import { deviceManagerSettings } from './device-manager-section.ts';
import { evictionOf } from './eviction.ts';
import type { Located, LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import type { ServerSettings } from './server-section.ts';
import { serverSettings, serverWarnings } from './server-section.ts';
import type { StaticPodSettings } from './static-pods-section.ts';
import { staticPodSettings } from './static-pods-section.ts';

/** The configuration the agent runs with: complete, checked, frozen. */
export interface EffectiveConfig {
  /** The IP address to serve on. */
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** `unix:///path`, or empty: the first that exists of the usual sockets. */
  readonly containerRuntimeEndpoint: string;
  /** The same for images; empty: the runtime's. */
  readonly imageServiceEndpoint: string;
  readonly runtimeRequestTimeoutMs: number;
  readonly nodeStatusUpdateFrequencyMs: number;
  readonly nodeStatusReportFrequencyMs: number;
  readonly nodeLeaseDurationSeconds: number;
  /** A quarter of the lease's duration. */
  readonly nodeLeaseRenewIntervalMs: number;
  readonly maxPods: number;
  readonly featureGates: FeatureGates;
  readonly registerNode: boolean;
  readonly registerWithTaints: readonly Taint[];
  /** Empty: none. */
  readonly providerID: string;
  readonly eviction: Eviction;
  /** How many images the status lists; -1: all. */
  readonly nodeStatusMaxImages: number;
  /** systemReserved and kubeReserved together. */
  readonly reserved: Reserved;
  readonly server: ServerSettings;
  readonly files: ServingFileNames;
  readonly checkpoint: CheckpointSettings;
  readonly staticPods: StaticPodSettings;
  /** What a container gets of which nothing is said: the seccomp profile of the runtime, or none. */
  readonly seccompDefault: boolean;
  readonly deviceManager: DeviceManagerSettings;
}

/** Computes what follows from the merged and validated values. */
export function computeEffective(merged: LocatedMap): { config: EffectiveConfig; warnings: string[] } {
  const warnings: string[] = [];
  const values = plainRecord(toPlain(merged));
  const string = (name: keyof typeof defaultValues) => String(values[name] ?? defaultValues[name]);
  const number = (name: keyof typeof defaultValues) => Number(values[name] ?? defaultValues[name]);
  const leaseSeconds = number('nodeLeaseDurationSeconds');
  const config: EffectiveConfig = {
    address: string('address'),
    port: number('port'),
    containerRuntimeEndpoint: withScheme('containerRuntimeEndpoint', values, warnings),
    imageServiceEndpoint: withScheme('imageServiceEndpoint', values, warnings),
    runtimeRequestTimeoutMs: durationMs(string('runtimeRequestTimeout')),
    nodeStatusUpdateFrequencyMs: durationMs(string('nodeStatusUpdateFrequency')),
    nodeStatusReportFrequencyMs: durationMs(string('nodeStatusReportFrequency')),
    nodeLeaseDurationSeconds: leaseSeconds,
    nodeLeaseRenewIntervalMs: leaseSeconds * 250,
    maxPods: number('maxPods'),
    featureGates: resolveGates(gatesOf(values)),
    registerNode: values['registerNode'] !== false,
    registerWithTaints: taintsOf(values['registerWithTaints']),
    providerID: textOf(values['providerID']),
    eviction: evictionOf(values),
    nodeStatusMaxImages: number('nodeStatusMaxImages'),
    reserved: reservedOf(values),
    server: serverSettings(values),
    files: {
      tlsCertFile: pathOf(merged, 'tlsCertFile'),
      tlsPrivateKeyFile: pathOf(merged, 'tlsPrivateKeyFile'),
      clientCAFile: pathOf(merged, 'authentication', 'x509', 'clientCAFile'),
    },
    checkpoint: checkpointSettings(
      values['checkpoint'],
      pathOf(merged, 'checkpoint', 'encryption', 'recipientsFile'),
    ),
    seccompDefault: values['seccompDefault'] === true,
    staticPods: staticPodSettings(pathOf(merged, 'staticPodPath'), string('fileCheckFrequency')),
    deviceManager: deviceManagerSettings(values['deviceManager']),
  };
  warnings.push(...serverWarnings(config.server));
  return { config: Object.freeze(config), warnings };
}

const plainRecord = (value: unknown): Record<string, unknown> => (isRecord(value) ? value : {});
const inner = (values: Record<string, unknown>, name: string) => plainRecord(values[name]);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A path that a file states relative counts from that file's folder, as in the reference. */
function pathOf(merged: LocatedMap, ...steps: readonly string[]): string {
  let here: Located | undefined = merged;
  for (const step of steps) here = here?.type === 'map' ? here.entries.get(step)?.value : undefined;
  const path = here?.type === 'scalar' ? textOf(here.value) : '';
  return path !== '' && here?.at.kind === 'file' ? resolve(dirname(here.at.file), path) : path;
}

function gatesOf(values: Record<string, unknown>): Record<string, boolean> {
  const gates = Object.entries(inner(values, 'featureGates'));
  return Object.fromEntries(gates.flatMap(([name, on]) => (typeof on === 'boolean' ? [[name, on]] : [])));
}

function taintsOf(value: unknown): Taint[] {
  if (!Array.isArray(value)) return [];
  return value.map(plainRecord).map(({ key, value: text, effect }) => ({
    key: textOf(key),
    ...(textOf(text) === '' ? {} : { value: textOf(text) }),
    effect: textOf(effect),
  }));
}

function reservedOf(values: Record<string, unknown>): Reserved {
  const sum = (resource: string, unit = 1) =>
    ['systemReserved', 'kubeReserved']
      .map((name) => Math.ceil((readQuantity(textOf(inner(values, name)[resource])) ?? 0) * unit))
      .reduce((a, b) => a + b, 0);
  return Object.freeze({
    cpuMillis: sum('cpu', 1000),
    memoryBytes: sum('memory'),
    storageBytes: sum('ephemeral-storage'),
  });
}

function withScheme(name: string, values: Record<string, unknown>, warnings: string[]): string {
  const endpoint = textOf(values[name]);
  if (!endpoint.startsWith('/')) return endpoint;
  warnings.push(`${name}: a path without a scheme is deprecated; write unix://${endpoint}`);
  return `unix://${endpoint}`;
}
