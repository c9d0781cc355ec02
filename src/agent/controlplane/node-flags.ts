/**
 * How the control plane uses memory. By itself V8 sizes a heap by the machine: its young generation grows to 128 MiB on
 * one of 24 GiB, and the old one to several times what is in use before anything is freed. At full speed that was half
 * of all memory (docs/benchmarks.md), for a few per cent less CPU.
 */
export const controlPlaneNodeFlags: readonly string[] = [
  '--max-semi-space-size=8',
  '--heap-growing-percent=30',
];
