import { join } from 'node:path';
import type { CsiVolumes } from './csi/csi-volumes.ts';
import { csiPlugin } from './csi/paths.ts';
import { emptyFolder } from './empty-folder.ts';
import type { Folder } from './folder.ts';
import { kindOfPlugin } from './kinds/table.ts';
import type { Mounter } from './mounter.ts';
import type { Place } from './place.ts';
import { devicesFolder, pluginsFolder, subPathsFolder, volumesFolder } from './place.ts';

export interface ReleaseTools {
  readonly place: Place;
  readonly mounter: Mounter;
  readonly csi: CsiVolumes;
  /** Ends the calls of drivers. */
  readonly signal: AbortSignal;
}

/** Far more volumes than a pod may have. */
const maxNames = 10_000;

/**
 * Unmounts and removes what a pod has here. It goes by what is on the disk and in the table of mounts, not by the pod, so it also
 * clears up after an agent that was killed. Volumes of drivers are taken away by these; one that its driver does not take away
 * stays as it is, and all others go. Only the volumes of kinds that own their files are emptied; of all others just empty
 * folders go. Rejects with what is in the way.
 */
export async function releaseVolumes(uid: string, tools: ReleaseTools): Promise<void> {
  const { place, mounter, csi, signal } = tools;
  await mounter.unmountAllIn(await place.pathOf(uid, subPathsFolder));
  const problems = await csi.unpublishAll(uid, signal);
  const kept = problems.length > 0 ? csiPlugin : undefined;
  await using pod = await place.open(uid);
  if (pod === undefined) return;
  await unmountVolumes(uid, pod, kept, tools);
  // first the marks that volumes are set up: from here on they are not
  await removeOwn(pod, pluginsFolder, kept);
  await removeOwn(pod, subPathsFolder);
  await removeOwn(pod, devicesFolder);
  await removeVolumes(pod, uid, kept);
  if (problems.length > 0) throw new Error(problems.join('; '));
}

async function unmountVolumes(
  uid: string,
  pod: Folder,
  kept: string | undefined,
  { place, mounter }: ReleaseTools,
): Promise<void> {
  for (const name of [volumesFolder, pluginsFolder]) {
    await using folder = await pod.open(name);
    const path = await place.pathOf(uid, name);
    // any name: a release that was cut off leaves some that no volume has
    for (const plugin of (await folder?.names(maxNames)) ?? [])
      if (plugin !== kept) await mounter.unmountAllIn(join(path, plugin));
  }
}

/** These folders hold nothing but what the agent made. */
async function removeOwn(pod: Folder, name: string, kept?: string): Promise<void> {
  await using folder = await pod.open(name);
  if (folder === undefined) return;
  if (kept === undefined) await emptyFolder(folder);
  for (const plugin of await folder.names(maxNames)) {
    if (plugin === kept) continue;
    await using inner = await folder.open(plugin);
    if (inner !== undefined) await emptyFolder(inner);
    await removeFolder(folder, plugin, `${name}/${plugin}`);
  }
  if (kept === undefined || !(await folder.has(kept))) await removeFolder(pod, name, name);
}

async function removeVolumes(pod: Folder, uid: string, kept: string | undefined): Promise<void> {
  await using volumes = await pod.open(volumesFolder);
  if (volumes === undefined) return;
  for (const plugin of await volumes.names(maxNames)) {
    if (plugin === kept) continue;
    await using folder = await volumes.open(plugin);
    for (const name of (await folder?.names(maxNames)) ?? []) {
      await using volume = await folder?.open(name);
      if (volume !== undefined) await kindOfPlugin(plugin)?.empty?.(volume);
      if (folder !== undefined) await removeFolder(folder, name, `${uid}/${volumesFolder}/${plugin}/${name}`);
    }
    await removeFolder(volumes, plugin, `${uid}/${volumesFolder}/${plugin}`);
  }
  if (kept === undefined || !(await volumes.has(kept)))
    await removeFolder(pod, volumesFolder, `${uid}/${volumesFolder}`);
}

async function removeFolder(parent: Folder, name: string, path: string): Promise<void> {
  if (!(await parent.rmdir(name)))
    throw new Error(
      `${path} below the folder of pods is not empty, and what is in it is not the agent's to remove`,
    );
}
