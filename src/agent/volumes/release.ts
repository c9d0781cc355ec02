import { emptyFolder } from './empty-folder.ts';
import type { Folder } from './folder.ts';
import { kindOfPlugin } from './kinds/table.ts';
import type { Mounter } from './mounter.ts';
import type { Place } from './place.ts';
import { pluginsFolder, subPathsFolder, volumesFolder } from './place.ts';

/** Far more volumes than a pod may have. */
const maxNames = 10_000;

/**
 * Unmounts and removes what a pod has here. It goes by what is on the disk and in the table of mounts, not by the pod, so it also
 * clears up after an agent that was killed. Only the volumes of kinds that own their files are emptied; of all others just empty
 * folders go. Rejects with what is in the way.
 */
export async function releaseVolumes(uid: string, place: Place, mounter: Mounter): Promise<void> {
  for (const name of [subPathsFolder, volumesFolder, pluginsFolder])
    await mounter.unmountAllIn(await place.pathOf(uid, name));
  await using pod = await place.open(uid);
  if (pod === undefined) return;
  // first the marks that volumes are set up: from here on they are not
  await removeOwn(pod, pluginsFolder);
  await removeOwn(pod, subPathsFolder);
  await removeVolumes(pod, uid);
}

/** These folders hold nothing but what the agent made. */
async function removeOwn(pod: Folder, name: string): Promise<void> {
  await using folder = await pod.open(name);
  if (folder === undefined) return;
  await emptyFolder(folder);
  await removeFolder(pod, name, name);
}

async function removeVolumes(pod: Folder, uid: string): Promise<void> {
  await using volumes = await pod.open(volumesFolder);
  if (volumes === undefined) return;
  for (const plugin of await volumes.names(maxNames)) {
    await using folder = await volumes.open(plugin);
    for (const name of (await folder?.names(maxNames)) ?? []) {
      await using volume = await folder?.open(name);
      if (volume !== undefined) await kindOfPlugin(plugin)?.empty?.(volume);
      if (folder !== undefined) await removeFolder(folder, name, `${uid}/${volumesFolder}/${plugin}/${name}`);
    }
    await removeFolder(volumes, plugin, `${uid}/${volumesFolder}/${plugin}`);
  }
  await removeFolder(pod, volumesFolder, `${uid}/${volumesFolder}`);
}

async function removeFolder(parent: Folder, name: string, path: string): Promise<void> {
  if (!(await parent.rmdir(name)))
    throw new Error(
      `${path} below the folder of pods is not empty, and what is in it is not the agent's to remove`,
    );
}
