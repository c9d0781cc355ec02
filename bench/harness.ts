import { Bench } from 'tinybench';

/** What is measured, by name; the same work done in several ways stands in one group. */
export type Group = Readonly<Record<string, () => unknown>>;

/**
 * Measures each task for half a second, after a warm-up, one after the other, and prints microseconds per call, the
 * median and the 99th percentile, beside how often the first task of the group would fit.
 */
export async function measure(title: string, group: Group): Promise<void> {
  const bench = new Bench({ name: title, time: 500, warmupTime: 200 });
  for (const [name, task] of Object.entries(group)) bench.add(name, task);
  await bench.run();
  let first: number | undefined;
  for (const { name, result } of bench.tasks) {
    if (result.state !== 'completed') throw new Error(`${title}, ${name}: ${result.state}`);
    const { p50, p99 } = result.latency;
    first ??= p50;
    const ratio = (p50 / first).toFixed(2);
    console.log(`${title.padEnd(24)} ${name.padEnd(28)} ${us(p50)} ${us(p99)} ${ratio.padStart(7)}`);
  }
}

export function printHead(): void {
  console.log(
    `${'what'.padEnd(24)} ${'how'.padEnd(28)} ${'p50 µs'.padStart(10)} ${'p99 µs'.padStart(10)} ratio`,
  );
}

function us(milliseconds: number): string {
  return (milliseconds * 1000).toFixed(2).padStart(10);
}
