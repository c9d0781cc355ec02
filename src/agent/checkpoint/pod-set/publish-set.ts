import { version } from '../../../api/index.ts';
import type { ArchiveFolder, UnnamedPair } from '../archive-folder.ts';
import type { Draft } from '../dump/draft.ts';
import type { MadeCheckpoint } from '../dump/dump.ts';
import type { UnnamedRecord } from '../dump/dump-steps.ts';
import { archiveName, checkpointId, setId } from '../names.ts';
import type { CheckpointRecord } from '../record.ts';
import { writeRecord } from '../record.ts';
import type { SetManifest, SetMember } from '../set-manifest.ts';
import { manifestFormat } from '../set-manifest.ts';
import { manifestPath } from '../set-manifest-files.ts';

/** A set that was made just now. */
export interface MadeSet {
  readonly manifest: SetManifest;
  /** Absolute path of the manifest. */
  readonly path: string;
  /** In the order of the manifest. */
  readonly checkpoints: readonly MadeCheckpoint[];
}

/** A member that has no name yet. */
export interface UnnamedMember {
  readonly draft: Draft;
  readonly record: UnnamedRecord;
}

/** What a manifest says beside its members. */
export type SetHead = Omit<
  SetManifest,
  'formatVersion' | 'id' | 'finishedAt' | 'nodewardVersion' | 'members'
>;

export interface SetPublisher {
  /** Gives all their names, durably, or none. `finishedMs` is when the last archive was complete. */
  publish(head: SetHead, members: readonly UnnamedMember[], finishedMs: number): Promise<MadeSet>;
}

/** How many names in a row may be taken already. */
const nameTries = 1000;

export function createSetPublisher(archives: ArchiveFolder): SetPublisher {
  let named = 0;

  /** The records tell the names, so they are written for each. */
  async function nameAll(id: string, startedMs: number, members: readonly UnnamedMember[]) {
    const pairs = new Map<string, UnnamedPair>();
    const records: CheckpointRecord[] = [];
    for (const { draft, record } of members) {
      const memberId = checkpointId(record, startedMs, named++);
      const whole = { ...record, id: memberId, archive: archiveName(memberId, record), set: id };
      pairs.set(memberId, await draft.writeRecord(writeRecord(whole)));
      records.push(whole);
    }
    return { pairs, records };
  }

  async function readAll(records: readonly CheckpointRecord[]): Promise<MadeCheckpoint[]> {
    return await Promise.all(
      records.map(async (record) => {
        const stored = await archives.read(record.id);
        if (stored === undefined) throw new Error(`${record.id} is gone already`);
        return { ...stored, record };
      }),
    );
  }

  return {
    async publish(head, members, finishedMs) {
      const startedMs = Date.parse(head.startedAt);
      for (let tries = 0; tries < nameTries; tries += 1) {
        const id = setId(head.namespace, head.pod, startedMs, named++);
        const { pairs, records } = await nameAll(id, startedMs, members);
        const manifest: SetManifest = {
          formatVersion: manifestFormat,
          id,
          ...head,
          finishedAt: new Date(finishedMs).toISOString(),
          nodewardVersion: version.nodeward,
          members: records.map(memberOf),
        };
        if (!(await archives.publishSet(manifest, pairs))) continue;
        return { manifest, path: manifestPath(archives.path, id), checkpoints: await readAll(records) };
      }
      throw new Error(`no free name for the set in ${archives.path}`);
    },
  };
}

/** Without what may change later. */
function memberOf({
  pinned: _pinned,
  pinReason: _reason,
  verified: _verified,
  ...member
}: CheckpointRecord): SetMember {
  return member;
}
