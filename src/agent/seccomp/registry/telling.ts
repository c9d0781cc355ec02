import type { EventRecorder, Happening, Subject } from '../../node/events/index.ts';
import { nodeSubject } from '../../node/events/index.ts';
import type { ProfileUse } from './in-use.ts';
import type { Verdict } from './types.ts';
import { verdictWord } from './verdict.ts';

export interface TellingOptions {
  nodeName: string;
  folder: string;
  events: EventRecorder;
}

export type Uses = ReadonlyMap<string, readonly ProfileUse[]>;

/**
 * Tells the pods that name a profile, and the node, when the profile has changed, is broken or is gone, and when it is well
 * again. What is well when it is first seen is not worth an Event; what is not well is.
 */
export interface Telling {
  /** Compares what was told with what is; call it when other pods name profiles. */
  compare(uses: Uses, verdictOf: (path: string) => Verdict | undefined): void;
  /** The same for one profile; call it when that has changed. */
  compareOne(path: string, users: readonly ProfileUse[], verdict: Verdict | undefined): void;
}

/** By whom it was told. */
type Told = ReadonlyMap<string, Verdict>;

export function createTelling(options: TellingOptions): Telling {
  const { events, nodeName, folder } = options;
  /** By the profile's path. */
  let told = new Map<string, Told>();

  function tellAll(path: string, users: readonly ProfileUse[], verdict: Verdict | undefined): Told {
    const earlier = told.get(path);
    const next = new Map<string, Verdict>();
    const tell = (subject: Subject, ending: string): void => {
      const whom = `${subject.kind} ${subject.uid}`;
      const before = earlier?.get(whom);
      const now = verdict ?? before;
      if (now === undefined) return;
      next.set(whom, now);
      const what = happening(path, before, now, folder);
      if (what !== undefined) events.record(subject, { ...what, message: `${what.message}${ending}` });
    };
    for (const use of users) tell(subjectOf(use), endingOf(use));
    const pods = users.length === 1 ? 'pod' : 'pods';
    tell(nodeSubject(nodeName), `; named by ${users.length} ${pods} of this node`);
    return next;
  }

  return {
    compare(uses, verdictOf) {
      told = new Map([...uses].map(([path, users]) => [path, tellAll(path, users, verdictOf(path))]));
    },
    compareOne: (path, users, verdict) => void told.set(path, tellAll(path, users, verdict)),
  };
}

function subjectOf({ namespace, pod, uid, fieldPath }: ProfileUse): Subject {
  return { kind: 'Pod', namespace, name: pod, uid, ...(fieldPath === undefined ? {} : { fieldPath }) };
}

/** A profile is read when a container is made, and never again. */
function endingOf({ running }: ProfileUse): string {
  if (running.length === 0)
    return '; containers that run already keep the profile that they were started with';
  const [who, keep, they] =
    running.length === 1
      ? ['container', 'runs and keeps', 'it was']
      : ['containers', 'run and keep', 'they were'];
  return `; ${who} ${running.join(', ')} ${keep} the profile that ${they} started with`;
}

function happening(
  path: string,
  before: Verdict | undefined,
  now: Verdict,
  folder: string,
): Happening | undefined {
  if (verdictWord(before) === verdictWord(now)) return undefined;
  const name = `seccomp profile ${JSON.stringify(shortened(path))}`;
  switch (now.kind) {
    case 'valid':
      return wellAgain(name, before, now.digest);
    case 'invalid': {
      const [first, ...more] = now.errors;
      const where = first?.path ? `${first.path}: ` : '';
      const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
      const message = `${name} is not valid, no container can be started with it: ${shortened(`${where}${first?.message}`)}${rest}`;
      return { type: 'Warning', reason: 'SeccompProfileInvalid', message };
    }
    case 'unreadable': {
      const message = `${name} cannot be used, no container can be started with it: ${now.reason}`;
      return { type: 'Warning', reason: 'SeccompProfileUnreadable', message };
    }
    case 'missing': {
      const message = `${name} is not in ${folder}, no container can be started with it until it is put there`;
      return { type: 'Warning', reason: 'SeccompProfileMissing', message };
    }
  }
}

function wellAgain(name: string, before: Verdict | undefined, digest: string): Happening | undefined {
  if (before === undefined) return undefined;
  const message =
    before.kind === 'valid'
      ? `${name} has changed from ${short(before.digest)} to ${short(digest)}`
      : `${name} can be used now, ${short(digest)}`;
  return { type: 'Normal', reason: 'SeccompProfileChanged', message };
}

const short = (digest: string): string => digest.slice(0, 'sha256:'.length + 12);

/** So that all of the sentence is told. */
function shortened(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
