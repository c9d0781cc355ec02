import { randomUUID } from 'node:crypto';
import { errorCode } from '../../base/index.ts';
import type { Folder } from './folder.ts';

/** How many names are read at once: a folder may have millions. */
const batch = 1000;

/**
 * Removes everything in a folder that others filled, and nothing else: no link is followed, and nothing that is mounted in it is
 * entered. Folders that are not empty are moved up to the top and emptied there, so that however deep they lie two descriptors
 * are enough. Rejects with what is in the way. Done again after it was cut off, it goes on.
 */
export async function emptyFolder(folder: Folder): Promise<void> {
  for (;;) {
    const names = await folder.names(batch);
    if (names.length === 0) return;
    for (const name of names) await dissolve(folder, name);
  }
}

/** Removes one entry of the folder, with everything in it, or nothing where there is none; see `emptyFolder`. */
export async function removeEntry(folder: Folder, name: string): Promise<void> {
  if (await unlessMounted(name, folder.unlink(name))) return;
  await using inner = await folder.open(name);
  if (inner === undefined) return;
  if (inner.mountId !== folder.mountId) throw isMounted(name);
  await emptyFolder(inner);
  await unlessMounted(name, folder.rmdir(name));
}

/** What is in a folder of that name goes, or moves to the top. */
async function dissolve(top: Folder, name: string): Promise<void> {
  if ((await unlessMounted(name, top.unlink(name))) || (await unlessMounted(name, top.rmdir(name)))) return;
  await using inner = await top.open(name);
  if (inner === undefined) return;
  if (inner.mountId !== top.mountId) throw isMounted(name);
  await moveUp(inner, top);
  await unlessMounted(name, top.rmdir(name));
}

/** Removes the files of `inner`, and moves its folders up. */
async function moveUp(inner: Folder, top: Folder): Promise<void> {
  for (;;) {
    const names = await inner.names(batch);
    if (names.length === 0) return;
    for (const name of names) {
      const isGone =
        (await unlessMounted(name, inner.unlink(name))) || (await unlessMounted(name, inner.rmdir(name)));
      if (!isGone) await unlessMounted(name, inner.moveTo(name, top, `.nodeward-${randomUUID()}`));
    }
  }
}

/** The kernel refuses to move or remove what something is mounted at. */
async function unlessMounted<T>(name: string, doing: Promise<T>): Promise<T> {
  try {
    return await doing;
  } catch (error) {
    if (errorCode(error) === 'EBUSY' || errorCode(error) === 'EXDEV') throw isMounted(name);
    throw error;
  }
}

const isMounted = (name: string) =>
  new Error(`${JSON.stringify(name)} has something mounted in it, which is not removed with the volume`);
