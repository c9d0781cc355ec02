import type { ContainerAllocation } from '../devices/index.ts';
import { findCdiFault } from '../devices/index.ts';

/** Of an answer in all; what a container's sandbox takes from its devices is far below. */
const bytesLimit = 256 * 1024;

/** What is wrong with a plugin's answer, so that no runtime could use it; undefined where nothing is. */
export function responseFault(response: ContainerAllocation): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(response));
  if (bytes > bytesLimit) return `it has ${bytes} bytes, and at most ${bytesLimit} are taken`;
  for (const [name, value] of Object.entries(response.envs)) {
    if (name === '' || /[=\0]/.test(name) || value.includes('\0'))
      return `the environment variable ${shown(name)} cannot be set`;
  }
  for (const { containerPath, hostPath } of [...response.mounts, ...response.devices]) {
    const bad = [containerPath, hostPath].find((path) => !isUsablePath(path));
    if (bad !== undefined) return `the path ${shown(bad)} is not absolute, or has .. in it`;
  }
  const wrong = response.devices.find(({ permissions }) => !/^[rwm]{0,3}$/.test(permissions));
  if (wrong !== undefined)
    return `the permissions ${shown(wrong.permissions)} of ${shown(wrong.containerPath)} are not letters of rwm`;
  if (Object.keys(response.annotations).includes('')) return 'an annotation has no name';
  const cdi = response.cdiDevices.find((name) => findCdiFault(name) !== undefined);
  return cdi === undefined ? undefined : `${shown(cdi)} is no qualified name of a CDI device`;
}

/** A plugin may say a lot; the beginning shows what is meant. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** A path with `..` would name another place than it seems to. */
function isUsablePath(path: string): boolean {
  return path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..');
}

export const emptyResponse: ContainerAllocation = {
  envs: {},
  mounts: [],
  devices: [],
  annotations: {},
  cdiDevices: [],
};

/**
 * What a container needs that has devices of several plugins. As in the reference, a place in the container is given
 * once: to the first who asked for it; of a variable or annotation the last value counts.
 */
export function mergeResponses(responses: readonly ContainerAllocation[]): ContainerAllocation {
  return {
    envs: Object.assign({}, ...responses.map(({ envs }) => envs)),
    annotations: Object.assign({}, ...responses.map(({ annotations }) => annotations)),
    mounts: firstOf(responses.flatMap(({ mounts }) => mounts)),
    devices: firstOf(responses.flatMap(({ devices }) => devices)),
    cdiDevices: [...new Set(responses.flatMap(({ cdiDevices }) => cdiDevices))],
  };
}

function firstOf<T extends { containerPath: string }>(all: readonly T[]): T[] {
  const places = new Set<string>();
  return all.filter(({ containerPath }) => !places.has(containerPath) && places.add(containerPath));
}
