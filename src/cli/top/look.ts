import { formatTime } from '../../api/index.ts';
import type { Answers } from './answers.ts';
import type { Figures } from './figures.ts';
import { readNode } from './read-node.ts';
import { readPods } from './read-pods.ts';
import { Throttling } from './throttling.ts';

/** One look, and what the next is compared with. */
export interface Look {
  readonly figures: Figures;
  readonly throttling: Throttling;
}

/** `atMs`: when the agent answered, by the wall clock. */
export function readLook({ summary, limits, pods }: Answers, atMs: number, before?: Look): Look {
  const throttling = new Throttling(before?.throttling);
  const read = readPods(summary, pods, throttling);
  return {
    figures: { time: formatTime(atMs), node: readNode(summary, limits, read.length), pods: read },
    throttling,
  };
}
