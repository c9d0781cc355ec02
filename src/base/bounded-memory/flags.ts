/*
 * By default V8 sizes its heap by the machine: on one of 24 GiB the young generation grows to 128 MiB, and the old one to
 * several times what is in use before anything is freed. And glibc gives every thread that allocates an arena of its own,
 * which keeps what V8's compilers needed once. Together that is more than half of the memory of a control plane at full
 * load, in exchange for about 15 % less CPU, and a fifth of the memory of an idle agent (docs/benchmarks.md).
 */

/** Node.js flags for a control plane, which must be fast at full load. */
export const boundedMemoryFlags: readonly string[] = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=50',
  '--no-sparkplug', // a third form of each function, 8 MiB in all, for at most 4 % less CPU
  '--expose-gc',
];

/** Node.js flags for an agent, which mostly waits. */
export const smallMemoryFlags: readonly string[] = [
  '--max-semi-space-size=2',
  '--heap-growing-percent=50',
  '--optimize-for-size',
  '--no-sparkplug',
  '--expose-gc',
];

/**
 * The thresholds are those with which malloc begins, here for good: by default the first large piece that is freed raises them,
 * up to 32 MiB, and what malloc has then stays between what is in use.
 */
export const boundedMemoryEnvironment: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '131072',
  MALLOC_TRIM_THRESHOLD_: '131072',
};

/**
 * For an agent. V8 compiles in pieces of 32 KiB, which each are a mapping of their own then, and go back to the system when they are
 * free; otherwise a third of what malloc holds is room between what is in use. And malloc keeps next to nothing at the end of its
 * own memory: that is a megabyte more. At full speed both would cost too much.
 */
export const smallMemoryEnvironment: Readonly<Record<string, string>> = {
  ...boundedMemoryEnvironment,
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '65536',
  MALLOC_TOP_PAD_: '0',
};

/** The environment of a control plane that a process with `smallMemoryEnvironment` starts. */
export function toControlPlaneEnvironment(own: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const inherited = Object.entries(own).filter(([name]) => !(name in smallMemoryEnvironment));
  return { ...Object.fromEntries(inherited), ...boundedMemoryEnvironment };
}
