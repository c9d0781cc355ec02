import { formatTime } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { PressureKind } from '../node/index.ts';
import type { PressureReport } from './evictor.ts';
import type { MetThreshold } from './pressure-watch.ts';
import { kindOf } from './pressure-watch.ts';
import { formatAmount, formatThreshold } from './words.ts';

/** For people. Fields are only ever added. */
export interface PressureExplanation {
  readonly condition: string;
  /** RFC 3339. */
  readonly since: string;
  /** What is short, and how much is to stay free. */
  readonly found: string;
  /** What was done last to free something, and when; absent: nothing yet. */
  readonly last?: { readonly time: string; readonly what: string };
}

const conditions: Readonly<Record<PressureKind, string>> = {
  memory: 'MemoryPressure',
  disk: 'DiskPressure',
  pid: 'PIDPressure',
};
const kinds: readonly PressureKind[] = ['memory', 'disk', 'pid'];

/** What the node is short of now, in the order of the reference; none where it is short of nothing. */
export function explainPressures({ state, last }: PressureReport, clock: Clock): PressureExplanation[] {
  const wallMs = (monotonicMs: number) => clock.now() - (clock.monotonicMs() - monotonicMs);
  return kinds.flatMap((kind) => {
    const sinceMs = state?.sinceMs[kind];
    if (sinceMs === undefined) return [];
    const met = state?.met.filter(({ signal }) => kindOf(signal) === kind) ?? [];
    return {
      condition: conditions[kind],
      since: formatTime(wallMs(sinceMs)),
      found:
        met.length === 0
          ? 'enough is free again; it is reported until evictionPressureTransitionPeriod is over'
          : met.map(describe).join(', '),
      ...(last?.kind === kind ? { last: { time: formatTime(last.atMs), what: last.what } } : {}),
    };
  });
}

function describe(met: MetThreshold): string {
  const { signal, isHard, available } = met;
  const kind = isHard ? '' : ' (soft)';
  return `${signal} is ${formatAmount(signal, available)}, ${formatThreshold(met)} are to stay free${kind}`;
}
