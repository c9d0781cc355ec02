import { causesOf, forbiddenValue, invalidValue, notFoundValue, requiredValue } from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { Container, Volume, VolumeDevice, VolumeMount } from '../pods/types.ts';
import { checkNoBacksteps, descendingPathCauses, oneOfIfSet } from './formats.ts';

/* Mounts and devices refer to volumes of the pod; each path in the container is used once. */

export type VolumesByName = ReadonlyMap<string, Volume>;

const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const recursions = ['Disabled', 'Enabled', 'IfPossible'];

export function mountCauses(container: Container, volumes: VolumesByName, path: string): Cause[] {
  const places = new Set<string>();
  const devices = new Set(container.volumeDevices?.map(({ name }) => name));
  const devicePaths = new Set(container.volumeDevices?.map(({ devicePath }) => devicePath));
  return causesOf(container.volumeMounts, (mount, index) => {
    const at = `${path}[${index}]`;
    const again = places.has(mount.mountPath);
    places.add(mount.mountPath);
    return [
      ...nameCauses(mount.name, volumes, at),
      ...(mount.mountPath === '' ? [requiredValue(`${at}.mountPath`)] : []),
      ...(again ? [invalidValue(`${at}.mountPath`, mount.mountPath, 'must be unique')] : []),
      ...(devices.has(mount.name)
        ? [invalidValue(`${at}.name`, mount.name, 'must not already exist in volumeDevices')]
        : []),
      ...(devicePaths.has(mount.mountPath)
        ? [
            invalidValue(
              `${at}.mountPath`,
              mount.mountPath,
              'must not already exist as a path in volumeDevices',
            ),
          ]
        : []),
      ...subPathCauses(mount, path, at),
      ...propagationCauses(mount, container, path),
      ...recursiveCauses(mount, path),
    ];
  });
}

function nameCauses(name: string, volumes: VolumesByName, at: string): Cause[] {
  return [
    ...(name === '' ? [requiredValue(`${at}.name`)] : []),
    ...(volumes.has(name) ? [] : [notFoundValue(`${at}.name`, name)]),
  ];
}

/* As in the reference, some causes are of all mounts of the container, at `path`: which of them is wrong is not said. */

function subPathCauses({ subPath = '', subPathExpr = '' }: VolumeMount, path: string, at: string): Cause[] {
  const isBoth = subPath !== '' && subPathExpr !== '';
  return [
    ...descendingPathCauses(`${path}.subPath`, subPath),
    ...(isBoth
      ? [invalidValue(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive')]
      : []),
    ...descendingPathCauses(`${path}.subPathExpr`, subPathExpr),
  ];
}

function propagationCauses({ mountPropagation }: VolumeMount, container: Container, path: string): Cause[] {
  const field = `${path}.mountPropagation`;
  const forPrivileged = mountPropagation === 'Bidirectional' && !container.securityContext?.privileged;
  return [
    ...oneOfIfSet(field, mountPropagation, propagations),
    ...(forPrivileged
      ? [forbiddenValue(field, 'Bidirectional mount propagation is available only to privileged containers')]
      : []),
  ];
}

function recursiveCauses(mount: VolumeMount, path: string): Cause[] {
  const { recursiveReadOnly, readOnly, mountPropagation } = mount;
  const field = `${path}.recursiveReadOnly`;
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible')
    return oneOfIfSet(field, recursiveReadOnly, recursions);
  return [
    ...(readOnly ? [] : [forbiddenValue(field, 'may only be specified when readOnly is true')]),
    ...(mountPropagation === undefined || mountPropagation === 'None'
      ? []
      : [forbiddenValue(field, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}

export function deviceCauses(container: Container, volumes: VolumesByName, path: string): Cause[] {
  const names = new Set<string>();
  const places = new Set<string>();
  const mounts = new Set(container.volumeMounts?.map(({ mountPath }) => mountPath));
  const mounted = new Set(container.volumeMounts?.map(({ name }) => name));
  return causesOf(container.volumeDevices, (device, index) => {
    const at = `${path}[${index}]`;
    const { name, devicePath } = device;
    const wrongName = (why: string) => [invalidValue(`${at}.name`, name, why)];
    const wrongPath = (why: string) => [invalidValue(`${at}.devicePath`, devicePath, why)];
    const climbs = checkNoBacksteps(devicePath) !== undefined;
    const causes = [
      ...(name === '' ? [requiredValue(`${at}.name`)] : []),
      ...(names.has(name) ? wrongName('must be unique') : []),
      ...deviceVolumeCauses(device, volumes, at),
      ...(devicePath === '' ? [requiredValue(`${at}.devicePath`)] : []),
      ...(places.has(devicePath) ? wrongPath('must be unique') : []),
      ...(climbs ? wrongPath("can not contain backsteps ('..')") : []),
      ...(mounted.has(name) ? wrongName('must not already exist in volumeMounts') : []),
      ...(mounts.has(devicePath) ? wrongPath('must not already exist as a path in volumeMounts') : []),
    ];
    if (name !== '') names.add(name);
    if (!climbs) places.add(devicePath);
    return causes;
  });
}

function deviceVolumeCauses({ name }: VolumeDevice, volumes: VolumesByName, at: string): Cause[] {
  const volume = volumes.get(name);
  if (volume === undefined) return [notFoundValue(`${at}.name`, name)];
  if (volume.persistentVolumeClaim !== undefined || volume.ephemeral !== undefined) return [];
  const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  return [invalidValue(`${at}.name`, name, detail)];
}
