import { readFile } from 'node:fs/promises';
import type { LabContainer, Workload } from '../lab/index.ts';

/**
 * Holds that much memory, counts twenty times a second, and notes at each count how long the machine has been up: a gap
 * between two of them is how long it stood still, as it saw it itself.
 */
export function notingGaps(mebibytes: number): Workload {
  const hold = `dd if=/dev/zero bs=${mebibytes}M count=1 2>/dev/null | sleep 1000000 &`;
  const count =
    'n=0; while :; do n=$((n+1)); read up _ < /proc/uptime; echo "$n $up" >> /data/times; ' +
    'echo $n > /data/next; mv /data/next /data/count; sleep 0.05; done';
  return { command: ['/bin/sh', '-c', `trap 'exit 0' TERM INT; ${mebibytes > 0 ? hold : ''} ${count}`] };
}

/** The longest gap that the workload has noted since a count, in milliseconds, to some ten; and that no count is missing. */
export async function longestGapMs({ pid }: LabContainer, sinceCount = 0): Promise<number> {
  const text = await readFile(`/proc/${pid}/root/data/times`, 'utf8');
  const notes = text
    .split('\n')
    .slice(0, -1) // what stands behind the last line end may be half a line
    .map((line) => line.split(' ').map(Number))
    .map(([count = 0, up = 0]) => ({ count, upMs: up * 1000 }));
  let longest = 0;
  for (const [at, note] of notes.entries()) {
    const before = notes[at - 1];
    if (before === undefined) continue;
    if (note.count !== before.count + 1) throw new Error(`${before.count} is followed by ${note.count}`);
    if (note.count > sinceCount) longest = Math.max(longest, note.upMs - before.upMs);
  }
  return longest;
}
