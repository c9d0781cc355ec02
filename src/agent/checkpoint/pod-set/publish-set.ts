import { version } from '../../../api/index.ts';
import type { ArchiveFolder, UnnamedPair } from '../archive-folder.ts';
import { composeArchiveName, composeCheckpointId, composeSetId } from '../checkpoint-id.ts';
import type { Draft } from '../dump/draft.ts';
import type { MadeCheckpoint } from '../dump/dump.ts';
import type { UnnamedRecord } from '../dump/dump-steps.ts';
import type { CheckpointRecord } from '../record.ts';
import { formatRecord } from '../record.ts';
import type { SetManifest, SetMember } from '../set-manifest.ts';
import { manifestFormat } from '../set-manifest.ts';
import { composeManifestPath } from '../set-manifest-files.ts';

/** A set that has just been made. */
export interface MadeSet {
  readonly manifest: SetManifest;
  /** Absolute path of the manifest. */
  readonly path: string;
  /** In the order of the manifest. */
  readonly checkpoints: readonly MadeCheckpoint[];
}

/** A complete archive that has no name yet. */
export interface UnnamedMember {
  readonly draft: Draft;
  readonly record: UnnamedRecord;
}

/** The fields of a manifest that are not of its members. */
export type SetHead = Omit<
  SetManifest,
  'formatVersion' | 'id' | 'finishedAt' | 'nodewardVersion' | 'members'
>;

/** How many names in a row may be taken already. */
const maxNameTries = 1000;

/** Gives the members of a set and its manifest their names. */
export class SetPublisher {
  readonly #archives: ArchiveFolder;
  /** Names given so far: makes the ids of one millisecond differ. */
  #named = 0;

  constructor(archives: ArchiveFolder) {
    this.#archives = archives;
  }

  /** Gives all members their names, durably, or none. `finishedMs` is when the last archive was complete. */
  async publish(head: SetHead, members: readonly UnnamedMember[], finishedMs: number): Promise<MadeSet> {
    const archives = this.#archives;
    const startedMs = Date.parse(head.startedAt);
    for (let tries = 0; tries < maxNameTries; tries += 1) {
      const id = composeSetId(head.namespace, head.pod, startedMs, this.#named++);
      const { pairs, records } = await this.#nameMembers(id, startedMs, members);
      const manifest: SetManifest = {
        formatVersion: manifestFormat,
        id,
        ...head,
        finishedAt: new Date(finishedMs).toISOString(),
        nodewardVersion: version.nodeward,
        members: records.map(toMember),
      };
      if (!(await archives.publishSet(manifest, pairs))) continue;
      const checkpoints = await this.#readMembers(records);
      return { manifest, path: composeManifestPath(archives.path, id), checkpoints };
    }
    throw new Error(`no free name for the set in ${archives.path}`);
  }

  /** The records contain the names, so they are written again for each attempt. */
  async #nameMembers(id: string, startedMs: number, members: readonly UnnamedMember[]) {
    const pairs = new Map<string, UnnamedPair>();
    const records: CheckpointRecord[] = [];
    for (const { draft, record } of members) {
      const memberId = composeCheckpointId(record, startedMs, this.#named++);
      const whole = { ...record, id: memberId, archive: composeArchiveName(memberId, record), set: id };
      pairs.set(memberId, await draft.writeRecord(formatRecord(whole)));
      records.push(whole);
    }
    return { pairs, records };
  }

  async #readMembers(records: readonly CheckpointRecord[]): Promise<MadeCheckpoint[]> {
    return await Promise.all(
      records.map(async (record) => {
        const stored = await this.#archives.read(record.id);
        if (stored === undefined) throw new Error(`${record.id} is gone already`);
        return { ...stored, record };
      }),
    );
  }
}

/** The record without the fields that may change later. */
function toMember({
  pinned: _pinned,
  pinReason: _reason,
  verified: _verified,
  ...member
}: CheckpointRecord): SetMember {
  return member;
}
