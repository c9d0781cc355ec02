import type { Eviction, Reserved } from '../node/index.ts';
import type { ServingFileNames } from '../server/index.ts';
import type { ShutdownPeriod } from '../shutdown/index.ts';
import { evictionFields } from './eviction-fields.ts';
import type { Settings } from './field.ts';
import { readFields } from './field.ts';
import { configFields, plainFields, staticPodFields } from './fields.ts';
import type { ImageSettings } from './image-fields.ts';
import { imageFields, toImageSettings } from './image-fields.ts';
import type { LocatedMap } from './located.ts';
import { toPlain } from './located.ts';
import type { LogSettings } from './log-fields.ts';
import { logFields, toLogSettings } from './log-fields.ts';
import type { PodSettings } from './pod-fields.ts';
import { podFields, toPodSettings } from './pod-fields.ts';
import type { Enforcement } from './reserved-fields.ts';
import { reservedFields, sumReserved, toEnforcement } from './reserved-fields.ts';
import type { ServerSettings } from './server-fields.ts';
import { serverFields, serverWarnings, toServerSettings, toServingFiles } from './server-fields.ts';
import { shutdownFields, toShutdownPeriods } from './shutdown-fields.ts';

/** The configuration the agent runs with: complete, checked, frozen. */
export interface EffectiveConfig extends Settings<typeof plainFields> {
  /** A quarter of the lease's duration. */
  readonly nodeLeaseRenewIntervalMs: number;
  readonly eviction: Eviction;
  /** systemReserved and kubeReserved together. */
  readonly reserved: Reserved;
  /** Who is held to that. */
  readonly enforcement: Enforcement;
  readonly server: ServerSettings;
  readonly files: ServingFileNames;
  readonly staticPods: StaticPodSettings;
  readonly pods: PodSettings;
  readonly images: ImageSettings;
  readonly logs: LogSettings;
  /** The groups of pods that a shutdown of the machine waits for. */
  readonly shutdown: readonly ShutdownPeriod[];
}

export interface StaticPodSettings {
  /** Absolute; empty: there are no static pods. */
  readonly folder: string;
  /** It is not the default, which may be missing without a warning. */
  readonly isStated: boolean;
  /** How often the folder is read though no change was noticed. */
  readonly rescanMs: number;
}

/** Computes what follows from the merged and validated values. */
export function computeEffective(merged: LocatedMap): { config: EffectiveConfig; warnings: string[] } {
  const plain = readFields(plainFields, merged);
  const server = readFields(serverFields, merged);
  const reserved = readFields(reservedFields, merged);
  const { staticPodPath: folder, rescanMs } = readFields(staticPodFields, merged);
  const config = Object.freeze({
    ...plain,
    nodeLeaseRenewIntervalMs: plain.nodeLeaseDurationSeconds * 250,
    eviction: readFields(evictionFields, merged),
    reserved: sumReserved(reserved),
    enforcement: toEnforcement(reserved),
    server: toServerSettings(server),
    files: toServingFiles(server),
    staticPods: Object.freeze({
      folder,
      isStated: folder !== staticPodFields.staticPodPath.default,
      rescanMs,
    }),
    pods: toPodSettings(readFields(podFields, merged)),
    images: toImageSettings(readFields(imageFields, merged)),
    logs: toLogSettings(readFields(logFields, merged)),
    shutdown: toShutdownPeriods(readFields(shutdownFields, merged)),
  });
  return { config, warnings: [...fieldWarnings(merged), ...serverWarnings(config.server)] };
}

function fieldWarnings(merged: LocatedMap): string[] {
  return Object.entries(configFields).flatMap(([name, field]) => {
    const entry = merged.entries.get(name);
    const warning = entry && field.warning?.(toPlain(entry.value));
    return warning === undefined ? [] : [`${name}: ${warning}`];
  });
}
