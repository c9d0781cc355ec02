import { join } from 'node:path';
import type { YamlReader } from '../../../api/index.ts';
import type { FolderEntry, FolderView } from '../../../base/folder-watch/index.ts';
import type { Clock } from '../../../base/index.ts';
import { describeError, errorCode } from '../../../base/index.ts';
import { annotationOf, firstObservedAnnotation, hashAnnotation } from '../names.ts';
import type { Judgement } from './manifest.ts';
import { judgeManifest, withFirstObserved } from './manifest.ts';
import { findFileFault, readUnchanged, whyIgnored } from './manifest-file.ts';
import type { Verdict } from './verdicts.ts';
import { rejectDuplicates } from './verdicts.ts';

export interface ManifestStoreOptions {
  folder: string;
  nodeName: string;
  readYaml: YamlReader;
  /** How long a file must have been unchanged before it is read. */
  quietMs: number;
  clock: Clock;
  /** Default: the file system of this machine. */
  read?: typeof readUnchanged;
}

export const manifestLimitBytes = 1024 * 1024;

interface KnownFile {
  /** Of the file that was judged; empty before that. */
  identity: string;
  verdict: Verdict;
  /** The file could not be read (no memory, a failing disk …): another attempt may succeed though the file is unchanged. */
  isTransient?: true;
}

type Judged = Judgement & Pick<KnownFile, 'isTransient'>;

/** The verdict on each file of a folder. A file is read again only when it may have changed. */
export class ManifestStore {
  readonly #options: ManifestStoreOptions;
  readonly #stability: Stability;
  /** By path. */
  readonly #known = new Map<string, KnownFile>();
  #isFirstUpdate = true;

  constructor(options: ManifestStoreOptions) {
    this.#options = options;
    this.#stability = new Stability(options.clock, options.quietMs);
  }

  /**
   * Judges the files that may have changed. Returns after how many milliseconds a file that is being written may be
   * complete; 0 where there is none.
   */
  async update(view: FolderView): Promise<number> {
    this.#forgetAllBut(view);
    const waits: number[] = [];
    for (const entry of view.entries.values()) waits.push(await this.#judgeEntry(entry));
    this.#isFirstUpdate = false;
    const still = waits.filter((ms) => ms > 0);
    return still.length === 0 ? 0 : Math.min(...still);
  }

  /** In the order of their names. */
  verdicts(): readonly Verdict[] {
    const verdicts = [...this.#known.values()].map(({ verdict }) => verdict);
    return rejectDuplicates(verdicts.sort((a, b) => (a.file < b.file ? -1 : 1)));
  }

  #forgetAllBut({ entries }: FolderView): void {
    for (const path of [...this.#known.keys()]) {
      if (entries.has(path)) continue;
      this.#known.delete(path);
      this.#stability.forget(path);
    }
  }

  async #judgeEntry(entry: FolderEntry): Promise<number> {
    const before = this.#known.get(entry.path);
    const isSame = before?.identity === entry.identity;
    if (isSame && before.isTransient === undefined) return 0;
    const ignored = whyIgnored(entry);
    if (ignored !== undefined) {
      this.#set(entry, { state: 'ignored', faults: [{ field: '', message: ignored }], warnings: [] });
      return 0;
    }
    const waitMs = isSame ? 0 : this.#stability.waitMs(entry, this.#isFirstUpdate);
    const judgement = waitMs > 0 ? undefined : await judge(entry, this.#options);
    if (judgement === undefined) this.#setWaiting(entry);
    else this.#setJudged(entry, judgement);
    return judgement === undefined ? Math.max(waitMs, this.#options.quietMs / 10) : 0;
  }

  /** While a file is being written, its last good pod still counts. */
  #setWaiting(entry: FolderEntry): void {
    const before = this.#known.get(entry.path)?.verdict;
    if (before?.state === 'waiting') return;
    const last = before?.pod === undefined ? {} : { pod: before.pod };
    const since = this.#formatNow();
    const verdict: Verdict = { file: entry.path, since, state: 'waiting', faults: [], warnings: [], ...last };
    this.#known.set(entry.path, { identity: '', verdict });
  }

  #setJudged(entry: FolderEntry, judgement: Judged): void {
    const last = this.#known.get(entry.path)?.verdict.pod;
    if ('faults' in judgement) {
      const { faults, isTransient } = judgement;
      const verdict = {
        state: 'invalid' as const,
        faults,
        warnings: [],
        ...(last === undefined ? {} : { pod: last }),
      };
      this.#set(entry, verdict, isTransient === undefined ? {} : { isTransient });
      return;
    }
    const { pod, hash, warnings } = judgement;
    const isSame = last !== undefined && annotationOf(last, hashAnnotation) === hash;
    const firstObserved = (isSame && annotationOf(last, firstObservedAnnotation)) || this.#formatNow();
    this.#set(entry, { state: 'accepted', faults: [], warnings, pod: withFirstObserved(pod, firstObserved) });
  }

  #set(
    { path, identity }: FolderEntry,
    verdict: Omit<Verdict, 'file' | 'since'>,
    transient: Pick<KnownFile, 'isTransient'> = {},
  ): void {
    const since = this.#formatNow();
    this.#known.set(path, { identity, verdict: { file: path, since, ...verdict }, ...transient });
    this.#stability.forget(path);
  }

  /** RFC 3339. */
  #formatNow(): string {
    return new Date(this.#options.clock.now()).toISOString();
  }
}

/** Undefined where the file is being written, or is gone. */
async function judge(
  entry: FolderEntry,
  { folder, nodeName, readYaml, read = readUnchanged }: ManifestStoreOptions,
): Promise<Judged | undefined> {
  const fault = findFileFault(entry);
  if (fault !== undefined) return { faults: [fault] };
  try {
    const bytes = await read(join(folder, entry.path), manifestLimitBytes);
    return bytes && judgeManifest({ file: entry.path, bytes }, { nodeName, readYaml });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return undefined;
    const faults = [{ field: '', message: `it cannot be read: ${describeError(error)}` }];
    return code === undefined ? { faults } : { faults, isTransient: true };
  }
}

/** Decides when a file has been unchanged for long enough to be complete. */
class Stability {
  readonly #clock: Clock;
  readonly #quietMs: number;
  /** By path. */
  readonly #observed = new Map<string, { identity: string; sinceMs: number }>();

  constructor(clock: Clock, quietMs: number) {
    this.#clock = clock;
    this.#quietMs = quietMs;
  }

  /**
   * Returns how long to wait; 0: read it now. `byTime`: its modification time counts. That is for files that existed at the
   * first scan; later ones are observed by the monotonic clock, so that setting the wall clock does not matter.
   */
  waitMs({ path, identity, mtimeMs }: FolderEntry, byTime: boolean): number {
    if (byTime && this.#clock.now() - mtimeMs >= this.#quietMs) return 0;
    const before = this.#observed.get(path);
    const nowMs = this.#clock.monotonicMs();
    if (before?.identity !== identity) this.#observed.set(path, { identity, sinceMs: nowMs });
    const sinceMs = before?.identity === identity ? before.sinceMs : nowMs;
    return Math.max(0, sinceMs + this.#quietMs - nowMs);
  }

  forget(path: string): void {
    this.#observed.delete(path);
  }
}
