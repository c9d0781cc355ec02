import { createHash } from 'node:crypto';
import { idLimit } from './archive-folder.ts';
import type { Target } from './errors.ts';

/**
 * The id of a checkpoint, `checkpoint-<pod>_<namespace>-<container>-<time>`, whose archive has that name and `.tar`
 * (specification 4.11), with the time as RFC 3339 in UTC. `count` makes ids of one millisecond differ: it becomes the
 * nanoseconds, so that they sort by time. A pod's name that is too long for a file is cut, and told apart by a digest.
 */
export function checkpointId({ namespace, pod, container }: Target, timeMs: number, count: number): string {
  return idOf(pod, `_${namespace}-${container}`, timeMs, count);
}

/** The id of a set of checkpoints, all of one pod: the same without a container. */
export function setId(namespace: string, pod: string, timeMs: number, count: number): string {
  return idOf(pod, `_${namespace}`, timeMs, count);
}

/** The archive's name says whether it is sealed. */
export function archiveName(id: string, { sealed }: { sealed?: unknown }): string {
  return sealed === undefined ? `${id}.tar` : `${id}.tar.age`;
}

function idOf(pod: string, middle: string, timeMs: number, count: number): string {
  const nanoseconds = String(count % 1_000_000).padStart(6, '0');
  const time = new Date(timeMs).toISOString().replace('Z', `${nanoseconds}Z`);
  const rest = `${middle}-${time}`;
  const room = idLimit - 'checkpoint-'.length - rest.length;
  return `checkpoint-${pod.length <= room ? pod : cut(pod, room)}${rest}`;
}

function cut(pod: string, room: number): string {
  const digest = createHash('sha256').update(pod).digest('hex').slice(0, 16);
  return `${pod.slice(0, room - digest.length - 1)}~${digest}`;
}
