import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readKernelFolder } from '../../base/index.ts';

const folder = '/sys/devices/system/cpu';

/**
 * The counters of each cpu's throttling, by which one container could watch the load of others. `root` stands for the root of
 * the file system; tests pass a folder.
 */
export function readThermalPaths(root: string): string[] {
  const cpus = readKernelFolder(join(root, folder)).filter((name) => /^cpu\d+$/.test(name));
  const paths = cpus.map((cpu) => `${folder}/${cpu}/thermal_throttle`);
  return paths.filter((path) => existsSync(join(root, path)));
}
