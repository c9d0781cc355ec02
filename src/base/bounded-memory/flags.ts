/*
 * By default V8 sizes its heap by the machine: on one of 24 GiB the young generation grows to 128 MiB, and the old one to
 * several times what is in use before anything is freed. And glibc gives every thread that allocates an arena of its own,
 * which keeps what V8's compilers needed once. Together that is more than half of the memory of a control plane at full
 * load, in exchange for about 15 % less CPU (docs/benchmarks.md).
 */

export const boundedMemoryFlags: readonly string[] = ['--max-semi-space-size=8', '--heap-growing-percent=50'];

export const boundedMemoryEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
