import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode, makeFolders } from '../../base/index.ts';
import { Folder } from './folder.ts';

/*
 * Where the volumes of pods are, as the reference lays them out, below `pods/UID` of the root folder:
 *
 *   volumes/PLUGIN/NAME                          the volume
 *   volume-subpaths/NAME/CONTAINER/INDEX         a part of it, for one mount of a container
 *   plugins/kubernetes.io~empty-dir/NAME/ready   that the volume was set up
 *   volumeDevices/PLUGIN/NAME                    a link to a block device
 *
 * What several pods of the node share is below `plugins` of the root folder.
 *
 * These folders are root's and closed to others; what is in a volume belongs to the containers.
 */

export const volumesFolder = 'volumes';
export const subPathsFolder = 'volume-subpaths';
export const pluginsFolder = 'plugins';
export const devicesFolder = 'volumeDevices';

const folderMode = 0o750;
/** Names come from pods; the uid of a static pod is whatever its manifest says. */
const safeName = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,252}$/;

export class Place {
  readonly #rootDir: string;
  #pods: Promise<string> | undefined;
  #shared: Promise<string> | undefined;

  constructor(rootDir: string) {
    this.#rootDir = rootDir;
  }

  /** The folder of all pods, made if need be, without links in its path: so the table of mounts names it. */
  async podsPath(): Promise<string> {
    this.#pods ??= prepareFolder(join(this.#rootDir, 'pods'));
    try {
      return await this.#pods;
    } catch (error) {
      this.#pods = undefined;
      throw error;
    }
  }

  /** Of what several pods share; the top folder is made if need be. */
  async sharedPath(...names: readonly string[]): Promise<string> {
    for (const name of names) checkSafe(name);
    this.#shared ??= prepareFolder(join(this.#rootDir, 'plugins'));
    try {
      return join(await this.#shared, ...names);
    } catch (error) {
      this.#shared = undefined;
      throw error;
    }
  }

  async pathOf(uid: string, ...names: readonly string[]): Promise<string> {
    for (const name of [uid, ...names]) checkSafe(name);
    return join(await this.podsPath(), uid, ...names);
  }

  /** Opens the folder of a pod, or one below it, and makes it first where it is missing. */
  async make(uid: string, ...names: readonly string[]): Promise<Folder> {
    let folder = await Folder.at(await this.podsPath());
    for (const name of [uid, ...names]) {
      checkSafe(name);
      await using parent = folder;
      folder = await parent.make(name, folderMode);
    }
    return folder;
  }

  /** Undefined where it is missing. */
  async open(uid: string, ...names: readonly string[]): Promise<Folder | undefined> {
    let folder: Folder | undefined = await Folder.at(await this.podsPath());
    for (const name of [uid, ...names]) {
      checkSafe(name);
      if (folder === undefined) return undefined;
      await using parent: Folder = folder;
      folder = await parent.open(name);
    }
    return folder;
  }

  /** The uids of the pods that have anything here, at most `limit`: also those of an agent that was killed. */
  async listPods(limit: number): Promise<string[]> {
    await using pods = await Folder.at(await this.podsPath());
    const found: string[] = [];
    for (const uid of await pods.names(limit)) if (await hasVolumes(pods, uid)) found.push(uid);
    return found.sort();
  }
}

async function prepareFolder(path: string): Promise<string> {
  await makeFolders(path);
  return await realpath(path);
}

function checkSafe(name: string): void {
  if (!safeName.test(name.replaceAll('~', '_')))
    throw new Error(`${JSON.stringify(name)} cannot be the name of a folder of a pod`);
}

async function hasVolumes(pods: Folder, uid: string): Promise<boolean> {
  try {
    await using pod = await pods.open(uid);
    const names = pod === undefined ? [] : await pod.names(100);
    return [volumesFolder, subPathsFolder, pluginsFolder, devicesFolder].some((name) => names.includes(name));
  } catch (error) {
    if (errorCode(error) === 'ENOTDIR' || errorCode(error) === 'ELOOP') return false; // none of the agent's
    throw error;
  }
}
