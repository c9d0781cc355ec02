import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../base/index.ts';
import {
  describeError,
  errorCode,
  Mutex,
  readRegularFile,
  tryParseRecord,
  writeFileAtomic,
} from '../../base/index.ts';
import type { HostIds } from './sub-ids.ts';

/** Ids of the machine that a pod has as its own, from 0 on. */
export interface IdRange {
  readonly hostId: number;
  readonly length: number;
}

export interface UserNamespacesOptions {
  /** The folders of the pods, by uid. */
  readonly podsDir: string;
  /** How many ids a pod gets; a multiple of 65,536. */
  readonly idsPerPod: number;
  /** Rejects with an Error for people. */
  hostIds(): Promise<HostIds>;
  readonly log: Logger;
  /** A number in [0, 1); default Math.random. */
  readonly random?: () => number;
}

/** In the folder of a pod; the name and the content are the reference's, so that the two can take over pods of each other. */
const fileName = 'userns';
const limitBytes = 4096;

/**
 * Which ids the pods with user namespaces have. No two pods share an id. A range is the pod's until it has ended, and stands in
 * its folder, so a restart of the agent changes none.
 */
export class UserNamespaces {
  readonly #options: UserNamespacesOptions;
  readonly #mutex = new Mutex();
  /** By the uid of the pod; undefined before the folders of the pods were read. */
  #ranges: Map<string, IdRange> | undefined;
  #hostIds: HostIds | undefined;
  /** Where the search for the next one begins: ids that were just given back rest. */
  #next: number | undefined;

  constructor(options: UserNamespacesOptions) {
    this.#options = options;
  }

  /**
   * The pod's range; the first call sets one apart, unless `check` rejects, and writes it to the folder of the pod, which must
   * exist. Rejects with an Error for people.
   */
  async allocate(podUid: string, check: () => Promise<void>): Promise<IdRange> {
    const known = await this.#mutex.run(() => this.#find(podUid));
    if (known !== undefined) return known;
    await check();
    return await this.#mutex.run(async () => (await this.#find(podUid)) ?? (await this.#begin(podUid)));
  }

  /** Undefined where the pod has none yet. */
  async #find(podUid: string): Promise<IdRange | undefined> {
    this.#ranges ??= await this.#readAll();
    const known = this.#ranges.get(podUid) ?? (await this.#read(podUid));
    if (known !== undefined) this.#ranges.set(podUid, known);
    return known;
  }

  async #begin(podUid: string): Promise<IdRange> {
    const range = await this.#findFree();
    await writeFileAtomic(this.#fileOf(podUid), formatRange(range));
    this.#ranges?.set(podUid, range);
    return range;
  }

  /** Gives the range back: nothing of the pod runs any more. One that has none is no error. */
  async release(podUid: string): Promise<void> {
    await this.#mutex.run(async () => {
      await rm(this.#fileOf(podUid), { force: true }).catch((error: unknown) => {
        if (errorCode(error) !== 'ENOTDIR') throw error;
      });
      this.#ranges?.delete(podUid);
    });
  }

  async #findFree(): Promise<IdRange> {
    const found = (await this.#searchFree()) ?? (await this.#searchAgain());
    if (found === undefined)
      throw new Error('create user namespace: could not find an empty slot to allocate a user namespace');
    return found;
  }

  /** Pods whose folders others have removed hold nothing any more. */
  async #searchAgain(): Promise<IdRange | undefined> {
    this.#ranges = await this.#readAll();
    return await this.#searchFree();
  }

  async #searchFree(): Promise<IdRange | undefined> {
    const { idsPerPod: length, hostIds, random = Math.random } = this.#options;
    this.#hostIds ??= await hostIds();
    const { first, count } = this.#hostIds;
    const slots = Math.floor(count / length);
    const start = this.#next ?? Math.floor(random() * slots);
    const taken = [...(this.#ranges?.values() ?? [])];
    for (let offset = 0; offset < slots; offset += 1) {
      const slot = (start + offset) % slots;
      const range = { hostId: first + slot * length, length };
      if (taken.some((each) => overlaps(each, range))) continue;
      this.#next = slot + 1;
      return range;
    }
    return undefined;
  }

  /** Those of all pods with folders here. */
  async #readAll(): Promise<Map<string, IdRange>> {
    const ranges = new Map<string, IdRange>();
    for (const uid of await listFolders(this.#options.podsDir)) {
      try {
        const range = await this.#read(uid);
        if (range !== undefined) ranges.set(uid, range);
      } catch (error) {
        this.#options.log.warn(`${describeError(error)}; the ids of that pod may be given to another one`);
      }
    }
    return ranges;
  }

  /** Undefined where the pod has none. Throws an Error for a file that is not as it was written. */
  async #read(podUid: string): Promise<IdRange | undefined> {
    const path = this.#fileOf(podUid);
    const data = await readIfThere(path);
    if (data === undefined) return undefined;
    const range = parseRange(data.toString());
    if (range !== undefined) return range;
    throw new Error(
      `user namespace: ${path} does not say which ids the pod has; remove it once nothing of the pod runs`,
    );
  }

  #fileOf(podUid: string): string {
    return join(this.#options.podsDir, podUid, fileName);
  }
}

function overlaps(a: IdRange, b: IdRange): boolean {
  return a.hostId < b.hostId + b.length && b.hostId < a.hostId + a.length;
}

function formatRange({ hostId, length }: IdRange): string {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

/** Undefined unless users and groups have one and the same range from 0 on, above the ids of the machine itself. */
function parseRange(text: string): IdRange | undefined {
  const { uidMappings, gidMappings } = tryParseRecord(text) ?? {};
  const [users, groups] = [parseMappings(uidMappings), parseMappings(gidMappings)];
  const isSame = users?.hostId === groups?.hostId && users?.length === groups?.length;
  return isSame ? users : undefined;
}

const unit = 65_536;

function parseMappings(value: unknown): IdRange | undefined {
  if (!Array.isArray(value) || value.length !== 1) return undefined;
  const fields = new Map<string, unknown>(Object.entries(Object(value[0])));
  const [hostId, containerId, length] = ['hostId', 'containerId', 'length'].map((name) =>
    Number(fields.get(name)),
  );
  if (hostId === undefined || length === undefined || containerId !== 0) return undefined;
  const isSound = [hostId, length].every((each) => each >= unit && each % unit === 0);
  return isSound && hostId + length < 2 ** 32 ? { hostId, length } : undefined;
}

async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readRegularFile(path, { limitBytes, noFollow: true });
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return undefined;
    throw error;
  }
}

async function listFolders(path: string): Promise<string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
