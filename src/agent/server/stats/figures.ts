import type { CpuUsage, Pressure, PressureFigures } from '../../usage/index.ts';
import type { IoStats, PsiFigures, PsiStats } from './usage.ts';

/** Drops members that are not known. */
export function defined<K extends string>(
  figures: Readonly<Record<K, number | undefined>>,
): Partial<Record<K, number>> {
  const found: Partial<Record<K, number>> = {};
  for (const key in figures) {
    const value = figures[key];
    if (value !== undefined && Number.isFinite(value)) found[key] = value;
  }
  return found;
}

/** Empty where it is not measured. */
export function withPsi(pressure: Pressure | undefined): { psi?: PsiStats } {
  const psi = psiStats(pressure);
  return psi === undefined ? {} : { psi };
}

const none: PsiFigures = { total: 0, avg10: 0, avg60: 0, avg300: 0 };

function psiStats(pressure: Pressure | undefined): PsiStats | undefined {
  if (pressure === undefined) return undefined;
  return {
    full: pressure.full === undefined ? none : figuresOf(pressure.full),
    some: figuresOf(pressure.some),
  };
}

function figuresOf({ totalMicros, avg10, avg60, avg300 }: PressureFigures): PsiFigures {
  return { total: totalMicros, avg10, avg60, avg300 };
}

/** Undefined where it is not measured. */
export function ioStats(time: string, { psi }: { psi?: PsiStats }): IoStats | undefined {
  return psi === undefined ? undefined : { time, psi };
}

/** Without the time at which they were read. */
export function cpuFigures({
  usageNanoCores,
  usageCoreNanoSeconds,
  rateSpanMs,
}: Pick<CpuUsage, 'usageNanoCores' | 'usageCoreNanoSeconds' | 'rateSpanMs'>) {
  const usageSpanMilliSeconds = rateSpanMs === undefined ? undefined : Math.round(rateSpanMs);
  return defined({ usageNanoCores, usageCoreNanoSeconds, usageSpanMilliSeconds });
}
