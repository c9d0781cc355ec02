import { durationMs } from '../../base/index.ts';
import type { LocatedMap, Origin, Scalar } from './located.ts';
import { defaultOrigin, mapOf, scalarOf } from './located.ts';
import type { ConfigField } from './schema.ts';
import { kubeletConfiguration } from './schema.ts';

export const defaultValues = {
  address: '0.0.0.0',
  port: 10250,
  containerRuntimeEndpoint: '',
  runtimeRequestTimeout: '2m',
  nodeStatusUpdateFrequency: '10s',
  nodeStatusReportFrequency: '5m',
  nodeLeaseDurationSeconds: 40,
  maxPods: 110,
  registerNode: true,
} as const satisfies Partial<Record<ConfigField, string | number | boolean>>;

/** The lowest layer. */
export function defaultLayer(): LocatedMap {
  const entries = Object.entries(defaultValues).map(
    ([name, value]) => [name, { keyAt: defaultOrigin, value: scalarOf(value, defaultOrigin) }] as const,
  );
  const gates = { keyAt: defaultOrigin, value: mapOf([], defaultOrigin) };
  return mapOf([...entries, ['featureGates', gates]], defaultOrigin);
}

export interface Unset {
  layer: LocatedMap;
  /** The fields that were stated as zero; those that were merely empty are not among them. */
  zeros: { name: string; at: Origin }[];
}

/** Leaves out the fields of the files that are zero or empty: as in the reference, they get their defaults. */
export function withoutZeros(layer: LocatedMap): Unset {
  const zeros: Unset['zeros'] = [];
  const kept = [...layer.entries].filter(([name, { value }]) => {
    if (value.type !== 'scalar') return true;
    if (value.value === '') return false;
    const zero = isZero(fieldTypes.get(name), value.value);
    if (zero) zeros.push({ name, at: value.at });
    return !zero;
  });
  return { layer: mapOf(kept, layer.at), zeros };
}

const fieldTypes = new Map(
  Object.entries(kubeletConfiguration.fields).map(([name, field]) => [name, field.type.t]),
);

function isZero(type: string | undefined, value: Scalar): boolean {
  if (type === 'duration') return durationMs(String(value)) === 0;
  return value === 0;
}
