import { join } from 'node:path';
import type { Clock, Logger } from '../../../base/index.ts';
import type { StateFile } from '../../../base/state-file/index.ts';
import { openStateFile } from '../../../base/state-file/index.ts';
import type { DeviceRecord } from './record.ts';
import { createFileForm, fromFile } from './record.ts';

const limitBytes = 64 * 1024 * 1024;

/** The state file of the devices that are given (specification 2.6), below the folder of the device plugins' sockets. */
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
    parse: fromFile,
    format: createFileForm(),
    limitBytes,
    ...options,
  });
}
