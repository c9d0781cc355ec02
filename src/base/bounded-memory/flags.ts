/*
 * By itself V8 sizes a heap by the machine: its young generation grows to 128 MiB on one of 24 GiB, and the old one to
 * several times what is in use before anything is freed. And every thread that allocates gets an arena of its own from
 * glibc, which keeps what the compilers of V8 needed once. Together that is more than half of what a control plane at
 * full speed holds, for some 15 % less CPU (docs/benchmarks.md).
 */

export const boundedMemoryFlags: readonly string[] = ['--max-semi-space-size=8', '--heap-growing-percent=50'];

export const boundedMemoryEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '1' };
