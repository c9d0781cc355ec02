import { isRecord } from '../../api/schema/index.ts';
import { durationMs } from '../../base/index.ts';
import type { Eviction, EvictionSignal, Threshold, Thresholds } from '../node/index.ts';
import { evictionSignals } from '../node/index.ts';
import { readThreshold } from './amounts.ts';
import { defaultValues } from './defaults.ts';

/** What the configuration says of thresholds, from its merged and validated values. */
export function evictionOf(values: Readonly<Record<string, unknown>>): Eviction {
  const transition = values['evictionPressureTransitionPeriod'];
  return Object.freeze({
    hard: thresholdsOf(values['evictionHard']),
    soft: thresholdsOf(values['evictionSoft']),
    softGraceMs: bySignal(values['evictionSoftGracePeriod'], (text) => durationMs(text)),
    reclaim: thresholdsOf(values['evictionMinimumReclaim']),
    transitionMs: durationMs(
      typeof transition === 'string' ? transition : defaultValues.evictionPressureTransitionPeriod,
    ),
  });
}

function thresholdsOf(value: unknown): Thresholds {
  return bySignal<Threshold>(value, (text) => {
    const read = readThreshold(text);
    return read === 'off' ? undefined : read;
  });
}

function bySignal<T>(
  value: unknown,
  read: (text: string) => T | undefined,
): Partial<Record<EvictionSignal, T>> {
  const found: Partial<Record<EvictionSignal, T>> = {};
  if (!isRecord(value)) return found;
  for (const signal of evictionSignals) {
    const text = value[signal];
    const amount = typeof text === 'string' ? read(text) : undefined;
    if (amount !== undefined) found[signal] = amount;
  }
  return found;
}
