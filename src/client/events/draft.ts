import { createHash } from 'node:crypto';
import type { Event } from '../../api/index.ts';
import { formatTime } from '../../api/index.ts';
import type { Happening, Subject } from './types.ts';

/** An Event that is to be written, or to be counted up. */
export interface Draft {
  /** Who reports it. */
  readonly component: string;
  readonly subject: Subject;
  readonly happening: Happening;
  /** How often it happened since it was written last. */
  readonly count: number;
  /** Wall clock. */
  readonly firstMs: number;
  readonly lastMs: number;
}

const messageLimitBytes = 1024;

/** The same thing twice is one Event with a higher count. */
export function draftKey(component: string, subject: Subject, happening: Happening): string {
  const { type, reason, message } = happening;
  return JSON.stringify([component, subject, { type, reason, message }]);
}

/**
 * What happens again gets the same name, so that it is counted up also by a program that was restarted and by another
 * server of the control plane. Sixteen digits in base 16 at the end, as in the reference.
 */
export function eventName({ component, subject, happening }: Draft, host = ''): string {
  const digest = createHash('sha256').update(`${host} ${draftKey(component, subject, happening)}`);
  return `${subject.name}.${digest.digest('hex').slice(0, 16)}`;
}

export function mergeDrafts(older: Draft, newer: Draft): Draft {
  return { ...newer, count: older.count + newer.count, firstMs: Math.min(older.firstMs, newer.firstMs) };
}

/** Events about an object of the cluster stand in `default`. */
export function namespaceOf({ namespace }: Subject): string {
  return namespace === '' ? 'default' : namespace;
}

/** `host`: the node of who reports it, where that is one of the node's. */
export function eventOf(name: string, draft: Draft, host: string | undefined): Event {
  const { component, subject, count, firstMs, lastMs } = draft;
  const { annotations, ...happening } = draft.happening;
  const { namespace, ...cluster } = subject;
  return {
    metadata: {
      ...{ name, namespace: namespaceOf(subject) },
      ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
    },
    involvedObject: { apiVersion: 'v1', ...(namespace === '' ? cluster : subject) },
    ...happening,
    source: host === undefined ? { component } : { component, host },
    reportingComponent: component,
    ...(host === undefined ? {} : { reportingInstance: host }),
    firstTimestamp: formatTime(firstMs),
    lastTimestamp: formatTime(lastMs),
    count,
  };
}

/** Cut at a whole character. */
export function shortened(message: string): string {
  const bytes = Buffer.from(message);
  if (bytes.length <= messageLimitBytes) return message;
  const cut = new TextDecoder().decode(bytes.subarray(0, messageLimitBytes - 3), { stream: true });
  return `${cut}…`;
}
