import { durationMs } from '../../base/index.ts';
import type { EvictionSignal, Threshold } from '../node/index.ts';
import { evictionSignals, toShare } from '../node/index.ts';
import type { Fields } from './field.ts';
import {
  bool,
  duration,
  integer,
  keyAmong,
  map,
  maxTimer,
  quote,
  readQuantity,
  readQuantityText,
} from './field-types.ts';
import type { LocatedMap } from './located.ts';
import { entriesOf } from './located.ts';
import type { Problem } from './problems.ts';

/** A map by signal, of which signals that `read` makes nothing of count for nothing. */
const bySignal =
  <T>(read: (text: string) => T | undefined) =>
  (entries: Readonly<Record<string, unknown>>): Partial<Record<EvictionSignal, T>> => {
    const found: Partial<Record<EvictionSignal, T>> = {};
    for (const signal of evictionSignals) {
      const stated = entries[signal];
      const value = typeof stated === 'string' ? read(stated) : undefined;
      if (value !== undefined) found[signal] = value;
    }
    return found;
  };

const thresholds = {
  range: 'by signal, an amount or a percentage',
  checkKey: keyAmong(evictionSignals),
  checkEntry: (value: unknown) =>
    readThreshold(String(value)) === undefined
      ? `must be an amount above 0, such as 100Mi, or a percentage, not ${quote(value)}`
      : undefined,
  readEntries: bySignal<Threshold>((text) => {
    const threshold = readThreshold(text);
    return threshold === 'off' ? undefined : threshold;
  }),
};

/** When the node is under pressure, and how pods end for it. */
export const evictionFields = {
  evictionHard: map('hard', {
    ...thresholds,
    doc: 'What must stay free on the node; with less the node reports pressure, and pods are evicted at once ([pressure.md](pressure.md)). The hard thresholds of memory and nodefs are not allocatable. Signals: `memory.available`, `allocatableMemory.available` (default: as `memory.available`), `pid.available`, and `.available` and `.inodesFree` of `nodefs`, `imagefs` and `containerfs`. 0% and 100% switch one off, and a file that states some switches the others off, unless `mergeDefaultEvictionSettings` is true.',
    // As in the reference, with pid.available besides.
    default: {
      'memory.available': '100Mi',
      'nodefs.available': '10%',
      'nodefs.inodesFree': '5%',
      'imagefs.available': '15%',
      'imagefs.inodesFree': '5%',
      'pid.available': '10%',
    },
    mergesDefaultIf: 'mergeDefaultEvictionSettings',
  }),
  evictionSoft: map('soft', {
    ...thresholds,
    doc: 'The same, but pods are evicted only once a shortage has lasted for its grace period, and may get time to end (`evictionMaxPodGracePeriod`). Each signal needs both.',
    example: '{memory.available: 500Mi}',
  }),
  evictionSoftGracePeriod: map('softGraceMs', {
    doc: 'How long a soft shortage must last before pods are evicted.',
    example: '{memory.available: 1m30s}',
    range: 'by signal, a duration above 0s',
    checkKey: keyAmong(evictionSignals),
    checkEntry(plain) {
      const ms = durationMs(String(plain));
      return ms > 0 && ms <= durationMs(maxTimer)
        ? undefined
        : `must be a duration above 0, such as 90s, not ${quote(plain)}`;
    },
    readEntries: bySignal((text) => durationMs(text)),
  }),
  evictionMinimumReclaim: map('reclaim', {
    ...thresholds,
    doc: 'What must be free beyond a threshold that was met, before the pressure can end.',
    example: '{memory.available: 100Mi}',
    // 0 may be reclaimed, as in the reference, where a threshold of 0 would make no sense.
    checkEntry: (plain) =>
      /^0+(?:\.0*)?%?$/.test(String(plain)) || readThreshold(String(plain)) !== undefined
        ? undefined
        : `must be an amount, such as 500Mi, or a percentage, not ${quote(plain)}`,
  }),
  evictionPressureTransitionPeriod: duration('transitionMs', ['0s', maxTimer], {
    doc: 'How long a pressure is reported after its last sign.',
    default: '5m',
  }),
  evictionMaxPodGracePeriod: {
    ...integer(-1, 2_147_483_647, {
      doc: 'The most seconds that a pod gets to end when it is evicted for a soft threshold. Not stated, or 0: 1 s as for a hard one; -1: its own grace period.',
    }),
    settingName: 'maxPodGraceSeconds',
  },
  localStorageCapacityIsolation: {
    ...bool({
      doc: 'Whether a pod is evicted that is above its limits of `ephemeral-storage` or the `sizeLimit` of an emptyDir.',
      default: true,
    }),
    settingName: 'limitsStorage',
  },
} as const satisfies Fields;

/** They only decide which defaults count. */
export const mergingFields = {
  mergeDefaultEvictionSettings: bool({
    doc: 'Whether signals that `evictionHard` does not state keep their default.',
  }),
} as const satisfies Fields;

/** A soft threshold without its time would never count, or at once. */
export function checkSoftThresholds(merged: LocatedMap): Problem[] {
  const timed = new Set([...entriesOf(merged, 'evictionSoftGracePeriod')].map(([signal]) => signal));
  return [...entriesOf(merged, 'evictionSoft')]
    .filter(([signal]) => evictionSignals.some((known) => known === signal) && !timed.has(signal))
    .map(([signal, { keyAt }]) => ({
      at: keyAt,
      path: `evictionSoft.${signal}`,
      message: `needs evictionSoftGracePeriod.${signal} beside it`,
    }));
}

/** `10%` or `100Mi`; undefined where it is neither, or below zero. 0 % and 100 % switch a signal off. */
function readThreshold(text: string): Threshold | 'off' | undefined {
  if (text.endsWith('%')) {
    const percent = /^\d{1,3}(?:\.\d{1,9})?%$/.test(text) ? Number(text.slice(0, -1)) : -1;
    if (percent < 0 || percent > 100) return undefined;
    return percent === 0 || percent === 100 ? 'off' : toShare(percent);
  }
  const amount = readQuantity(text);
  const written = readQuantityText(text);
  return amount === undefined || amount <= 0 || written === undefined ? undefined : { amount, text: written };
}
