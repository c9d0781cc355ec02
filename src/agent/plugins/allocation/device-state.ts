import { join } from 'node:path';
import type { Clock, Logger } from '../../../base/index.ts';
import type { StateFile } from '../../../base/state-file/index.ts';
import { openStateFile } from '../../../base/state-file/index.ts';
import type { DeviceRecord } from './record.ts';
import { createFileFormatter, parseFileContent } from './record.ts';

const limitBytes = 64 * 1024 * 1024;

/** Opens the state file of allocated devices (specification 2.6), in the folder of the device plugins' sockets. */
export function openDeviceState({
  rootDir,
  ...options
}: {
  rootDir: string;
  clock: Clock;
  log: Logger;
  writeFile?: (path: string, text: string) => Promise<void>;
}): StateFile<DeviceRecord> {
  return openStateFile({
    path: join(rootDir, 'device-plugins', 'nodeward_internal_checkpoint'),
    what: 'the devices of pods',
    parse: parseFileContent,
    format: createFileFormatter(),
    limitBytes,
    ...options,
  });
}
