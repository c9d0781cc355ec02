const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** The milliseconds of a duration such as `1m30s`, which must have been checked to be one. */
export function durationMs(text: string): number {
  const parts = text.matchAll(/(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g);
  let totalMs = 0;
  for (const [, amount = '0', unit = ''] of parts) totalMs += Number(amount) * (unitMs[unit] ?? 0);
  return text.startsWith('-') ? -totalMs : totalMs;
}
