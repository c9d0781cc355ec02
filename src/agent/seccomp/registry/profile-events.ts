import type { EventRecorder, Happening, Subject } from '../../node/events/index.ts';
import { nodeSubject } from '../../node/events/index.ts';
import type { ProfileUse } from './profile-uses.ts';
import type { Verdict } from './types.ts';
import { verdictKey } from './verdict.ts';

export interface ProfileEventsOptions {
  nodeName: string;
  folder: string;
  events: EventRecorder;
}

export type Uses = ReadonlyMap<string, readonly ProfileUse[]>;

/** The last verdict that each subject has an Event of, or was found to have, by the subject's kind and uid. */
type Reported = ReadonlyMap<string, Verdict>;

/**
 * Records Events on the pods that name a profile, and on the node, when the profile has changed, becomes invalid or is gone,
 * and when it is valid again. A profile that is valid when it is first found gets no Event; one that is not valid does.
 */
export class ProfileEvents {
  readonly #options: ProfileEventsOptions;
  /** By the profile's path. */
  #reported = new Map<string, Reported>();

  constructor(options: ProfileEventsOptions) {
    this.#options = options;
  }

  /** Reports all differences; call it when the pods, or the profiles that they name, have changed. */
  reportAll(uses: Uses, verdictOf: (path: string) => Verdict | undefined): void {
    this.#reported = new Map(
      [...uses].map(([path, users]) => [path, this.#recordEvents(path, users, verdictOf(path))]),
    );
  }

  /** Reports the differences of one profile; call it when that has changed. */
  report(path: string, users: readonly ProfileUse[], verdict: Verdict | undefined): void {
    this.#reported.set(path, this.#recordEvents(path, users, verdict));
  }

  #recordEvents(path: string, users: readonly ProfileUse[], verdict: Verdict | undefined): Reported {
    const { events, nodeName, folder } = this.#options;
    const earlier = this.#reported.get(path);
    const next = new Map<string, Verdict>();
    const record = (subject: Subject, ending: string): void => {
      const key = `${subject.kind} ${subject.uid}`;
      const before = earlier?.get(key);
      const now = verdict ?? before;
      if (now === undefined) return;
      next.set(key, now);
      const happening = toHappening(path, before, now, folder);
      if (happening !== undefined)
        events.record(subject, { ...happening, message: `${happening.message}${ending}` });
    };
    for (const use of users) record(toSubject(use), formatEnding(use));
    const pods = users.length === 1 ? 'pod' : 'pods';
    record(nodeSubject(nodeName), `; named by ${users.length} ${pods} of this node`);
    return next;
  }
}

function toSubject({ namespace, pod, uid, fieldPath }: ProfileUse): Subject {
  return { kind: 'Pod', namespace, name: pod, uid, ...(fieldPath === undefined ? {} : { fieldPath }) };
}

/** A profile is read when a container is created, and never again. */
function formatEnding({ running }: ProfileUse): string {
  if (running.length === 0)
    return '; containers that run already keep the profile that they were started with';
  const [who, keep, they] =
    running.length === 1
      ? ['container', 'runs and keeps', 'it was']
      : ['containers', 'run and keep', 'they were'];
  return `; ${who} ${running.join(', ')} ${keep} the profile that ${they} started with`;
}

function toHappening(
  path: string,
  before: Verdict | undefined,
  now: Verdict,
  folder: string,
): Happening | undefined {
  if (verdictKey(before) === verdictKey(now)) return undefined;
  const name = `seccomp profile ${JSON.stringify(shorten(path))}`;
  switch (now.kind) {
    case 'valid':
      return toChanged(name, before, now.digest);
    case 'invalid': {
      const [first, ...more] = now.errors;
      const where = first?.path ? `${first.path}: ` : '';
      const rest = more.length === 0 ? '' : ` (and ${more.length} more)`;
      const message = `${name} is not valid, no container can be started with it: ${shorten(`${where}${first?.message}`)}${rest}`;
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

function toChanged(name: string, before: Verdict | undefined, digest: string): Happening | undefined {
  if (before === undefined) return undefined;
  const message =
    before.kind === 'valid'
      ? `${name} has changed from ${formatDigest(before.digest)} to ${formatDigest(digest)}`
      : `${name} can be used now, ${formatDigest(digest)}`;
  return { type: 'Normal', reason: 'SeccompProfileChanged', message };
}

const formatDigest = (digest: string): string => digest.slice(0, 'sha256:'.length + 12);

/** Limits a part of a message, so that the rest of the sentence is not cut off. */
function shorten(text: string): string {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
