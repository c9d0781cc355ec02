import { createHash } from 'node:crypto';
import { maxCheckpointIdLength } from '../../api/index.ts';
import type { Target } from './errors.ts';

/**
 * The id of a checkpoint, `checkpoint-<pod>_<namespace>-<container>-<time>`, the archive's name without `.tar`
 * (specification 4.11). The time is RFC 3339 in UTC. `count` makes ids of the same millisecond differ: it becomes the
 * nanoseconds, so that they sort by time. A pod name that is too long for a file name is cut and gets a digest, which
 * keeps it distinct.
 */
export function composeCheckpointId(
  { namespace, pod, container }: Target,
  timeMs: number,
  count: number,
): string {
  return composeId(pod, `_${namespace}-${container}`, timeMs, count);
}

/** The id of a set of checkpoints, all of one pod: the same without a container. */
export function composeSetId(namespace: string, pod: string, timeMs: number, count: number): string {
  return composeId(pod, `_${namespace}`, timeMs, count);
}

/** The file name of the archive; its ending says whether it is sealed. */
export function composeArchiveName(id: string, { sealed }: { sealed?: unknown }): string {
  return sealed === undefined ? `${id}.tar` : `${id}.tar.age`;
}

function composeId(pod: string, middle: string, timeMs: number, count: number): string {
  const nanoseconds = String(count % 1_000_000).padStart(6, '0');
  const time = new Date(timeMs).toISOString().replace('Z', `${nanoseconds}Z`);
  const rest = `${middle}-${time}`;
  const room = maxCheckpointIdLength - 'checkpoint-'.length - rest.length;
  return `checkpoint-${pod.length <= room ? pod : shortenPodName(pod, room)}${rest}`;
}

function shortenPodName(pod: string, room: number): string {
  const digest = createHash('sha256').update(pod).digest('hex').slice(0, 16);
  return `${pod.slice(0, room - digest.length - 1)}~${digest}`;
}

/** Compares the times at the ends of the ids; of equal times the ids. A container's name may look like a time. */
export function compareNewestFirst(a: { id: string }, b: { id: string }): number {
  if (a.id === b.id) return 0;
  const [timeA, timeB] = [extractTime(a.id), extractTime(b.id)];
  if (timeA === timeB) return a.id < b.id ? 1 : -1;
  return timeA < timeB ? 1 : -1;
}

/** When the checkpoint was begun, RFC 3339 with nanoseconds; empty if the text is no id. */
export const extractTime = (id: string): string => /\d{4}-\d\d-\d\dT[\d:.]+Z$/.exec(id)?.[0] ?? '';
