import type { FeatureGates } from '../../api/index.ts';
import { resolveGates } from '../../api/index.ts';
import { durationMs } from '../../base/index.ts';
import { defaultValues } from './defaults.ts';
import type { LocatedMap } from './located.ts';
import { toPlain } from './located.ts';

/** The configuration the agent runs with: complete, checked, frozen. */
export interface EffectiveConfig {
  /** The IP address to serve on. */
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** `unix:///path`, or empty: the first that exists of the usual sockets. */
  readonly containerRuntimeEndpoint: string;
  readonly runtimeRequestTimeoutMs: number;
  readonly nodeStatusUpdateFrequencyMs: number;
  readonly nodeStatusReportFrequencyMs: number;
  readonly nodeLeaseDurationSeconds: number;
  /** A quarter of the lease's duration. */
  readonly nodeLeaseRenewIntervalMs: number;
  readonly maxPods: number;
  readonly featureGates: FeatureGates;
  readonly registerNode: boolean;
}

/** Computes what follows from the merged and validated values. */
export function computeEffective(merged: LocatedMap): { config: EffectiveConfig; warnings: string[] } {
  const warnings: string[] = [];
  const string = (name: keyof typeof defaultValues) => String(plain(merged, name) ?? defaultValues[name]);
  const number = (name: keyof typeof defaultValues) => Number(plain(merged, name) ?? defaultValues[name]);
  const leaseSeconds = number('nodeLeaseDurationSeconds');
  const config: EffectiveConfig = {
    address: string('address'),
    port: number('port'),
    containerRuntimeEndpoint: withScheme(string('containerRuntimeEndpoint'), warnings),
    runtimeRequestTimeoutMs: durationMs(string('runtimeRequestTimeout')),
    nodeStatusUpdateFrequencyMs: durationMs(string('nodeStatusUpdateFrequency')),
    nodeStatusReportFrequencyMs: durationMs(string(reportField(merged))),
    nodeLeaseDurationSeconds: leaseSeconds,
    nodeLeaseRenewIntervalMs: leaseSeconds * 250,
    maxPods: number('maxPods'),
    featureGates: resolveGates(askedGates(merged)),
    registerNode: plain(merged, 'registerNode') !== false,
  };
  return { config: Object.freeze(config), warnings };
}

/** As in the reference: who sets only how often the status is computed has it sent as often. */
function reportField(merged: LocatedMap) {
  const origin = (name: string) => merged.entries.get(name)?.value.at.kind ?? 'default';
  const onlyUpdate =
    origin('nodeStatusReportFrequency') === 'default' && origin('nodeStatusUpdateFrequency') !== 'default';
  return onlyUpdate ? 'nodeStatusUpdateFrequency' : 'nodeStatusReportFrequency';
}

function plain(merged: LocatedMap, name: string): unknown {
  const entry = merged.entries.get(name);
  return entry === undefined ? undefined : toPlain(entry.value);
}

function askedGates(merged: LocatedMap): Record<string, boolean> {
  const gates = merged.entries.get('featureGates')?.value;
  if (gates?.type !== 'map') return {};
  return Object.fromEntries(
    [...gates.entries].flatMap(([name, { value }]) =>
      value.type === 'scalar' && typeof value.value === 'boolean' ? [[name, value.value]] : [],
    ),
  );
}

function withScheme(endpoint: string, warnings: string[]): string {
  if (!endpoint.startsWith('/')) return endpoint;
  warnings.push(`containerRuntimeEndpoint: a path without a scheme is deprecated; write unix://${endpoint}`);
  return `unix://${endpoint}`;
}
