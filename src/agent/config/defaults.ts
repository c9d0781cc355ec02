import { durationMs } from '../../base/index.ts';
import { checkpointDefaults } from './checkpoint-section.ts';
import { deviceManagerDefaults } from './device-manager-section.ts';
import type { Entry, LocatedMap, Origin, Scalar } from './located.ts';
import { defaultOrigin, locate, mapOf } from './located.ts';
import type { ConfigField } from './schema.ts';
import { actingNames, kubeletConfiguration } from './schema.ts';
import { accessDefaults, serverDefaults, withoutUnsetParts } from './server-section.ts';
import { staticPodDefaults } from './static-pods-section.ts';

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
  evictionPressureTransitionPeriod: '5m',
  nodeStatusMaxImages: 50,
  imageServiceEndpoint: '',
  seccompDefault: false,
  ...serverDefaults,
  ...staticPodDefaults,
} as const satisfies Partial<Record<ConfigField, string | number | boolean>>;

/** As in the reference, with pid.available besides. */
const defaultEviction: Readonly<Record<string, string>> = {
  'memory.available': '100Mi',
  'nodefs.available': '10%',
  'nodefs.inodesFree': '5%',
  'imagefs.available': '15%',
  'imagefs.inodesFree': '5%',
  'pid.available': '10%',
};

/** The lowest layer, for what is `stated` above it: some defaults depend on that, as in the reference. */
export function defaultLayer(stated: LocatedMap, standalone: boolean): LocatedMap {
  const entries = new Map<string, Entry>();
  const set = (name: string, value: unknown, at: Origin = defaultOrigin) =>
    void entries.set(name, { keyAt: at, value: locate(value, at) });
  for (const [name, value] of Object.entries(defaultValues)) set(name, value);
  const frequency = stated.entries.get('nodeStatusUpdateFrequency')?.value;
  if (frequency?.type === 'scalar')
    set('nodeStatusReportFrequency', frequency.value, { kind: 'default', as: 'nodeStatusUpdateFrequency' });
  set('featureGates', {});
  set('checkpoint', checkpointDefaults);
  set('deviceManager', deviceManagerDefaults);
  if (!stated.entries.has('evictionHard') || isTrue(stated, 'mergeDefaultEvictionSettings'))
    set('evictionHard', defaultEviction);
  for (const [name, value] of Object.entries(accessDefaults(standalone))) set(name, value);
  return mapOf(entries, defaultOrigin);
}

function isTrue(stated: LocatedMap, name: string): boolean {
  const value = stated.entries.get(name)?.value;
  return value?.type === 'scalar' && value.value === true;
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
    if (value.type !== 'scalar' || !actingNames.includes(name)) return true;
    if (value.value === '') return emptyCounts.includes(name);
    if (zeroCounts.includes(name)) return true;
    const zero = isZero(fieldTypes.get(name), value.value);
    if (zero) zeros.push({ name, at: value.at });
    return !zero;
  });
  const told = (name: string, at: Origin) => void zeros.push({ name, at });
  const whole = kept.map(([name, entry]) => [name, withoutUnsetParts(name, entry, told)] as const);
  return { layer: mapOf(whole, layer.at), zeros };
}

/** In them nothing is an answer, too. */
const emptyCounts: readonly string[] = ['staticPodPath'];

/** The reference tells a zero in them from nothing. */
const zeroCounts: readonly string[] = ['nodeStatusMaxImages', 'healthzPort'];

const fieldTypes = new Map(
  Object.entries(kubeletConfiguration.fields).map(([name, field]) => [name, field.type.t]),
);

function isZero(type: string | undefined, value: Scalar): boolean {
  if (type === 'duration') return durationMs(String(value)) === 0;
  return value === 0;
}
