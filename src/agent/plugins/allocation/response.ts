import type { ContainerAllocation } from '../devices/index.ts';
import { findCdiFault } from '../devices/index.ts';

/** The limit of a whole response; real ones are far smaller. */
const bytesLimit = 256 * 1024;

/** Returns the fault that makes a plugin's response unusable for any runtime, or undefined. */
export function findResponseFault(response: ContainerAllocation): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(response));
  if (bytes > bytesLimit) return `it has ${bytes} bytes, and at most ${bytesLimit} are taken`;
  for (const [name, value] of Object.entries(response.envs)) {
    if (name === '' || /[=\0]/.test(name) || value.includes('\0'))
      return `the environment variable ${quote(name)} cannot be set`;
  }
  for (const { containerPath, hostPath } of [...response.mounts, ...response.devices]) {
    const bad = [containerPath, hostPath].find((path) => !isUsablePath(path));
    if (bad !== undefined) return `the path ${quote(bad)} is not absolute, or has .. in it`;
  }
  const wrong = response.devices.find(({ permissions }) => !/^[rwm]{0,3}$/.test(permissions));
  if (wrong !== undefined)
    return `the permissions ${quote(wrong.permissions)} of ${quote(wrong.containerPath)} are not letters of rwm`;
  if (Object.keys(response.annotations).includes('')) return 'an annotation has no name';
  const cdi = response.cdiDevices.find((name) => findCdiFault(name) !== undefined);
  return cdi === undefined ? undefined : `${quote(cdi)} is no qualified name of a CDI device`;
}

/** Quotes the beginning of a plugin's text, which may be long. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** A path with `..` would lead elsewhere than it seems to. */
function isUsablePath(path: string): boolean {
  return path.startsWith('/') && !path.includes('\0') && !path.split('/').includes('..');
}

/**
 * Merges the responses for a container with devices of several plugins. As in the reference the first response wins for a
 * path in the container, and the last one for a variable or annotation.
 */
export function mergeResponses(responses: readonly ContainerAllocation[]): ContainerAllocation {
  return {
    envs: Object.assign({}, ...responses.map(({ envs }) => envs)),
    annotations: Object.assign({}, ...responses.map(({ annotations }) => annotations)),
    mounts: keepFirst(responses.flatMap(({ mounts }) => mounts)),
    devices: keepFirst(responses.flatMap(({ devices }) => devices)),
    cdiDevices: [...new Set(responses.flatMap(({ cdiDevices }) => cdiDevices))],
  };
}

function keepFirst<T extends { containerPath: string }>(all: readonly T[]): T[] {
  const places = new Set<string>();
  return all.filter(({ containerPath }) => !places.has(containerPath) && places.add(containerPath));
}
