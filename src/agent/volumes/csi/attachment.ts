import type { VolumeAttachment } from '../../../api/index.ts';
import { StatusError, volumeAttachmentKind } from '../../../api/index.ts';
import type { StorageReader } from '../storage.ts';
import { othersMs, VolumeError } from '../volume-error.ts';
import { attachmentName } from './paths.ts';
import type { CsiVolume } from './volume.ts';

/**
 * What the attachment of a volume to this node gave. Rejects with an Error for users while it is not attached: attaching is
 * nothing that a node does.
 */
export async function readAttachment(
  { inPod, handle, driver }: CsiVolume,
  node: string,
  reader: StorageReader,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  const name = attachmentName(handle, driver, node);
  const found = await findAttachment(name, reader, signal);
  const { attached, attachmentMetadata = {}, attachError } = found?.status ?? {};
  if (attached === true && found?.metadata?.deletionTimestamp === undefined) return attachmentMetadata;
  const waited = `Unable to attach or mount volumes: unmounted volumes=[${inPod}], unattached volumes=[${inPod}], failed to process volumes=[]`;
  throw new VolumeError(`${waited}: ${describeMissing()}`, { step: '', maxWaitMs: othersMs });

  function describeMissing(): string {
    if (found === undefined)
      return `there is no VolumeAttachment ${name}: the attach/detach controller of the cluster makes it`;
    if (found.metadata?.deletionTimestamp !== undefined) return 'volume attachment is being deleted';
    const why = attachError?.message === undefined ? '' : `: ${attachError.message}`;
    return `VolumeAttachment ${name} is not attached yet, which the external-attacher of ${driver} does${why}`;
  }
}

/** A node may read the attachments that are for it; of one that does not exist that is not known, so it may not ask. */
async function findAttachment(
  name: string,
  reader: StorageReader,
  signal: AbortSignal,
): Promise<VolumeAttachment | undefined> {
  try {
    return await reader.find(volumeAttachmentKind, name, signal);
  } catch (error) {
    if (error instanceof StatusError && error.reason === 'Forbidden') return undefined;
    throw error;
  }
}
