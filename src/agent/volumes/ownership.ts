import type { Pod } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import { isRecord, noReason, tryParseJson } from '../../base/index.ts';
import type { Happening } from '../node/events/index.ts';
import type { GroupAccess } from './change-group.ts';
import { changeGroup } from './change-group.ts';
import { startProgram } from './child-program.ts';

export type { GroupAccess } from './change-group.ts';

/** What the `fsGroup` of the pod asks of its volumes; undefined: nothing. */
export function groupAccessOf({ spec }: Pod, isReadOnly: boolean): GroupAccess | undefined {
  const { fsGroup, fsGroupChangePolicy } = spec?.securityContext ?? {};
  if (fsGroup === undefined) return undefined;
  const isOnRootMismatch = fsGroupChangePolicy === 'OnRootMismatch';
  return { group: Number(fsGroup), isReadOnly, isOnRootMismatch };
}

/**
 * Gives a volume, the folder `base` and everything in it, to a group; see `changeGroup`. For volumes that others fill: it goes
 * through all of their files, in a process of its own, as long as that takes. `base` is a path without links. Rejects with an
 * Error for users, or when `cancel` aborts; what was done stays, and the next call goes on. `onProgress` is called with the
 * number of files now and then. Returns that number; 0 where the root fits already and the policy is content with that.
 */
export async function giveToGroup(
  base: string,
  access: GroupAccess,
  { cancel, onProgress }: { readonly cancel: AbortSignal; onProgress?(count: number): void },
): Promise<number> {
  await using program = await startProgram(source(), [base, JSON.stringify(access)], cancel);
  for (;;) {
    const line = await program.nextLine();
    cancel.throwIfAborted();
    const answer = tryParseJson(line ?? '');
    if (!isRecord(answer)) throw new Error('setting the group of a volume ended without an answer');
    const { count, done, fault } = answer;
    if (typeof fault === 'string') throw new Error(`the group of the volume cannot be set: ${fault}`);
    if (typeof done === 'number') return done;
    if (typeof count === 'number') onProgress?.(count);
  }
}

export interface GiveToPodOptions {
  /** Reports an Event about a pod. */
  report(pod: Pod, happening: Happening): void;
  readonly clock: Clock;
  /** Default: the one above. */
  readonly give?: typeof giveToGroup;
}

/**
 * Gives the volume at `path` to the group of the pod, if that has one. A volume may have millions of files: when it takes long,
 * Events say why the pod waits, and how far it is.
 */
export async function giveToPod(
  pod: Pod,
  path: string,
  { report, clock, give = giveToGroup }: GiveToPodOptions,
  cancel: AbortSignal,
): Promise<void> {
  const access = groupAccessOf(pod, false);
  if (access === undefined) return;
  const progress = { count: 0 };
  const settled = new AbortController();
  const tell = (message: string) =>
    report(pod, { type: 'Warning', reason: 'VolumePermissionChangeInProgress', message });
  const at = path.indexOf(pod.metadata?.uid ?? path);
  void tellWhileSlow(path.slice(Math.max(0, at)), progress, tell, clock, settled.signal);
  const onProgress = (count: number) => {
    progress.count = count;
  };
  try {
    await give(path, access, { cancel, onProgress });
  } finally {
    settled.abort(noReason);
  }
}

/** As the reference does. */
const firstTellMs = 30_000;
const tellMs = 60_000;
const policyPage =
  'https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods';

async function tellWhileSlow(
  where: string,
  progress: { readonly count: number },
  tell: (message: string) => void,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const what = `Setting volume ownership for ${where}`;
  await clock.sleep(firstTellMs, signal);
  if (!signal.aborted)
    tell(`${what} is taking longer than expected, consider using OnRootMismatch - ${policyPage}`);
  while (!signal.aborted) {
    await clock.sleep(tellMs, signal);
    if (!signal.aborted) tell(`${what}, processed ${progress.count} files.`);
  }
}

function source(): string {
  return `const say = (what) => require('node:fs').writeSync(1, JSON.stringify(what) + '\\n');
    try { say({ done: (${changeGroup.toString()})(process.argv[1], JSON.parse(process.argv[2]), (count) => say({ count })) }); }
    catch (error) { say({ fault: String(error.message) }); }`;
}
