import {
  causesOf,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  notFoundValue,
  requiredValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import type { Container, Volume, VolumeDevice, VolumeMount } from '../pods/types.ts';
import { checkDescendingPath, checkNoBacksteps, oneOfIfSet } from './formats.ts';

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
      ...subPathCauses(mount, volumes.get(mount.name), at),
      ...propagationCauses(mount, container, at),
      ...recursiveCauses(mount, at),
    ];
  });
}

function nameCauses(name: string, volumes: VolumesByName, at: string): Cause[] {
  return [
    ...(name === '' ? [requiredValue(`${at}.name`)] : []),
    ...(volumes.has(name) ? [] : [notFoundValue(`${at}.name`, name)]),
  ];
}

function subPathCauses(
  { subPath = '', subPathExpr = '' }: VolumeMount,
  volume: Volume | undefined,
  at: string,
) {
  const both = subPath !== '' && subPathExpr !== '';
  const ofImage = volume?.image !== undefined;
  return Object.entries({ subPath, subPathExpr }).flatMap(([name, path]): Cause[] => {
    if (path === '') return [];
    return [
      ...(ofImage ? [invalidValue(`${at}.${name}`, path, 'not allowed in image volume sources')] : []),
      ...(both && name === 'subPathExpr'
        ? [invalidValue(`${at}.${name}`, path, 'subPathExpr and subPath are mutually exclusive')]
        : []),
      ...invalidUnless(`${at}.${name}`, path, checkDescendingPath(path)),
    ];
  });
}

function propagationCauses({ mountPropagation }: VolumeMount, container: Container, at: string): Cause[] {
  const field = `${at}.mountPropagation`;
  const forPrivileged = mountPropagation === 'Bidirectional' && !container.securityContext?.privileged;
  return [
    ...oneOfIfSet(field, mountPropagation, propagations),
    ...(forPrivileged
      ? [forbiddenValue(field, 'Bidirectional mount propagation is available only to privileged containers')]
      : []),
  ];
}

function recursiveCauses(mount: VolumeMount, at: string): Cause[] {
  const { recursiveReadOnly, readOnly, mountPropagation } = mount;
  const field = `${at}.recursiveReadOnly`;
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
    const causes = [
      ...nameCauses(device.name, volumes, at),
      ...blockCauses(device, volumes.get(device.name), at),
      ...(names.has(device.name) ? [invalidValue(`${at}.name`, device.name, 'must be unique')] : []),
      ...(places.has(device.devicePath)
        ? [invalidValue(`${at}.devicePath`, device.devicePath, 'must be unique')]
        : []),
      ...(mounted.has(device.name)
        ? [invalidValue(`${at}.name`, device.name, 'must not already exist in volumeMounts')]
        : []),
      ...(mounts.has(device.devicePath)
        ? [
            invalidValue(
              `${at}.devicePath`,
              device.devicePath,
              'must not already exist as a path in volumeMounts',
            ),
          ]
        : []),
    ];
    names.add(device.name);
    places.add(device.devicePath);
    return causes;
  });
}

function blockCauses({ name, devicePath }: VolumeDevice, volume: Volume | undefined, at: string): Cause[] {
  const isClaim = volume?.persistentVolumeClaim !== undefined || volume?.ephemeral !== undefined;
  const wrongSource = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
  const steps = checkNoBacksteps(devicePath) === undefined ? undefined : "can not contain backsteps ('..')";
  return [
    ...(volume !== undefined && !isClaim ? [invalidValue(`${at}.name`, name, wrongSource)] : []),
    ...(devicePath === '' ? [requiredValue(`${at}.devicePath`)] : []),
    ...invalidUnless(`${at}.devicePath`, devicePath, steps),
  ];
}
