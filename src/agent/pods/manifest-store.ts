import { join } from 'node:path';
import type { YamlReader } from '../../api/index.ts';
import type { FolderEntry, FolderView } from '../../base/folder-watch/index.ts';
import type { Clock } from '../../base/index.ts';
import { describeError, errorCode } from '../../base/index.ts';
import type { Judgement } from './manifest.ts';
import { judgeManifest, seenAt } from './manifest.ts';
import { faultOfFile, readUndisturbed, whyIgnored } from './manifest-file.ts';
import { annotationOf, hashAnnotation, seenAnnotation } from './names.ts';
import { createStability } from './stability.ts';
import type { Verdict } from './verdicts.ts';
import { withoutDuplicates } from './verdicts.ts';

/** What became of each file of a folder. A file is read again only when it may be another. */
export interface ManifestStore {
  /**
   * Looks at what is new. Answers after how many milliseconds something that is being written may be whole; 0 where there
   * is nothing of that kind.
   */
  look(view: FolderView): Promise<number>;
  /** In the order of their names. */
  verdicts(): readonly Verdict[];
}

export interface ManifestStoreOptions {
  folder: string;
  nodeName: string;
  readYaml: YamlReader;
  /** A file must have been left alone for so long before it is read. */
  quietMs: number;
  clock: Clock;
  /** Default: the file system of this machine. */
  read?: typeof readUndisturbed;
}

export const manifestLimitBytes = 1024 * 1024;

interface Found {
  /** Of the file that was judged; empty while there is none. */
  identity: string;
  verdict: Verdict;
  /** The machine was short of something, or the disk was ill: another look may do though the file stays as it is. */
  mayPass?: true;
}

type Judged = Judgement & Pick<Found, 'mayPass'>;

export function createManifestStore(options: ManifestStoreOptions): ManifestStore {
  const { clock, quietMs } = options;
  const stability = createStability(clock, quietMs);
  const found = new Map<string, Found>();
  let isFirstLook = true;

  function set(
    { path, identity }: FolderEntry,
    verdict: Omit<Verdict, 'file' | 'since'>,
    passing: Pick<Found, 'mayPass'> = {},
  ): void {
    const since = new Date(clock.now()).toISOString();
    found.set(path, { identity, verdict: { file: path, since, ...verdict }, ...passing });
    stability.forget(path);
  }

  /** What something is being written over still counts. */
  function wait(entry: FolderEntry): void {
    const before = found.get(entry.path)?.verdict;
    if (before?.state === 'waiting') return;
    const last = before?.pod === undefined ? {} : { pod: before.pod };
    const since = new Date(clock.now()).toISOString();
    const verdict: Verdict = { file: entry.path, since, state: 'waiting', faults: [], warnings: [], ...last };
    found.set(entry.path, { identity: '', verdict });
  }

  function setJudged(entry: FolderEntry, judgement: Judged): void {
    const last = found.get(entry.path)?.verdict.pod;
    if ('faults' in judgement) {
      const { faults, mayPass } = judgement;
      const verdict = {
        state: 'invalid' as const,
        faults,
        warnings: [],
        ...(last === undefined ? {} : { pod: last }),
      };
      set(entry, verdict, mayPass === undefined ? {} : { mayPass });
      return;
    }
    const { pod, hash, warnings } = judgement;
    const isSame = last !== undefined && annotationOf(last, hashAnnotation) === hash;
    const seen = (isSame && annotationOf(last, seenAnnotation)) || new Date(clock.now()).toISOString();
    set(entry, { state: 'accepted', faults: [], warnings, pod: seenAt(pod, seen) });
  }

  async function lookAt(entry: FolderEntry): Promise<number> {
    const before = found.get(entry.path);
    const isSame = before?.identity === entry.identity;
    if (isSame && before.mayPass === undefined) return 0;
    const ignored = whyIgnored(entry);
    if (ignored !== undefined) {
      set(entry, { state: 'ignored', faults: [{ field: '', message: ignored }], warnings: [] });
      return 0;
    }
    const waitMs = isSame ? 0 : stability.waitMs(entry, isFirstLook);
    const judgement = waitMs > 0 ? undefined : await judge(entry, options);
    if (judgement === undefined) wait(entry);
    else setJudged(entry, judgement);
    return judgement === undefined ? Math.max(waitMs, quietMs / 10) : 0;
  }

  function forgetAllBut({ entries }: FolderView): void {
    for (const path of [...found.keys()]) {
      if (entries.has(path)) continue;
      found.delete(path);
      stability.forget(path);
    }
  }

  return {
    async look(view) {
      forgetAllBut(view);
      const waits: number[] = [];
      for (const entry of view.entries.values()) waits.push(await lookAt(entry));
      isFirstLook = false;
      const still = waits.filter((ms) => ms > 0);
      return still.length === 0 ? 0 : Math.min(...still);
    },
    verdicts: () =>
      withoutDuplicates(
        [...found.values()].map(({ verdict }) => verdict).sort((a, b) => (a.file < b.file ? -1 : 1)),
      ),
  };
}

/** Undefined where the file is being written, or has gone. */
async function judge(
  entry: FolderEntry,
  { folder, nodeName, readYaml, read = readUndisturbed }: ManifestStoreOptions,
): Promise<Judged | undefined> {
  const fault = faultOfFile(entry);
  if (fault !== undefined) return { faults: [fault] };
  try {
    const bytes = await read(join(folder, entry.path), manifestLimitBytes);
    return bytes && judgeManifest({ file: entry.path, bytes }, { nodeName, readYaml });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return undefined;
    const faults = [{ field: '', message: `it cannot be read: ${describeError(error)}` }];
    return code === undefined ? { faults } : { faults, mayPass: true };
  }
}
