/**
 * How long this thread works on something, in milliseconds of CPU time: what else runs on the machine does not count. For
 * bounds on work that must not grow faster than its input.
 */
export function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}
