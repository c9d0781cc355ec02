import { errorCode, isRecord, readRegularFile, tryParseJson, writeFileAtomic } from '../../../base/index.ts';

/*
 * What is known of a volume of a driver is in a file beside it, in the form of the reference, so that either agent finds the volumes
 * of the other. It is written before the driver is asked for anything, and removed after the driver has undone it.
 */

export const dataFile = 'vol_data.json';

/** How far the call is: `prepared`, the driver has not been asked; `asked`, it may have done it; `done`. */
export type VolumeProgress = 'prepared' | 'asked' | 'done';

export interface VolumeData {
  /** That of the PersistentVolume, or of the volume of the pod. */
  readonly name: string;
  readonly driver: string;
  readonly handle: string;
  readonly lifecycle: 'Persistent' | 'Ephemeral';
  readonly isBlock: boolean;
  readonly progress: VolumeProgress;
  /** The name of its VolumeAttachment, and the node's. */
  readonly attachment: string;
  readonly node: string;
}

const limitBytes = 64 * 1024;
/** Others pass over keys that they do not know; without it the call has been made. */
const progressKey = 'nodeward.io/progress';

export async function writeVolumeData(path: string, data: VolumeData): Promise<void> {
  const { name, driver, handle, lifecycle, isBlock, progress, attachment, node } = data;
  const text = JSON.stringify({
    attachmentID: attachment,
    driverName: driver,
    nodeName: node,
    specVolID: name,
    volumeHandle: handle,
    volumeLifecycleMode: lifecycle,
    ...(isBlock ? { 'nodeward.io/block': 'true' } : {}),
    ...(progress === 'done' ? {} : { [progressKey]: progress }),
  });
  await writeFileAtomic(path, text);
}

/** Undefined where there is none. Rejects for a file that names no volume of a driver. */
export async function readVolumeData(path: string): Promise<VolumeData | undefined> {
  let text: string;
  try {
    text = (await readRegularFile(path, { limitBytes, noFollow: true })).toString();
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
  const data = tryParseJson(text);
  const textOf = (key: string) => (isRecord(data) && typeof data[key] === 'string' ? data[key] : '');
  const [driver, handle] = [textOf('driverName'), textOf('volumeHandle')];
  if (driver === '' || handle === '')
    throw new Error(
      `${path} does not say which volume of which driver is there: have the driver's own tools unmount it, and remove the file`,
    );
  const progress = textOf(progressKey);
  return {
    ...{ driver, handle, name: textOf('specVolID'), attachment: textOf('attachmentID') },
    node: textOf('nodeName'),
    lifecycle: textOf('volumeLifecycleMode') === 'Ephemeral' ? 'Ephemeral' : 'Persistent',
    isBlock: textOf('nodeward.io/block') !== '',
    progress: progress === 'prepared' || progress === 'asked' ? progress : 'done',
  };
}
