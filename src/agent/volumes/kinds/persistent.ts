import { csiPlugin } from '../csi/paths.ts';
import type { VolumeKind } from './types.ts';

/** A claim that the pod names, or one that is made for it; behind it is a volume of a driver, or a path of the node. */
export const claimed: VolumeKind = {
  isForeign: true,
  setUp: (volume, { persistent }, signal) => persistent.claimed.setUp(volume, signal),
  pathOf: (volume, { persistent }) => persistent.claimed.pathOf(volume),
  groupOf: async (volume, { persistent }) => await persistent.claimed.groupOf?.(volume),
  isReadOnly: ({ source }) => source.persistentVolumeClaim?.readOnly === true,
};

/** A volume that a driver makes for the pod. Volumes of drivers behind claims are in the same folder. */
export const csi: VolumeKind = {
  plugin: csiPlugin,
  isForeign: true,
  setUp: (volume, { persistent }, signal) => persistent.inline.setUp(volume, signal),
  pathOf: (volume, { persistent }) => persistent.inline.pathOf(volume),
  isReadOnly: ({ source }) => source.csi?.readOnly === true,
};
