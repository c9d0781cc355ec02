import { boundedMemoryEnvironment, boundedMemoryFlags } from './flags.ts';

/** What a process was started with, and its way to begin anew in place (execve(2)), where it has one. */
export interface ProcessStart {
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  execve?(file: string, args: readonly string[], env: Record<string, string>): void;
}

/**
 * Begins the process anew with the flags that bound its memory, as the same process with the same descriptors: V8 reads
 * them, and glibc its environment, at the start only. Does nothing when it has them, or when whoever started it has
 * chosen a size of the young generation. To be called before anything is open or loaded that would be lost.
 */
export function restartBounded(start: ProcessStart): void {
  const { execPath, execArgv, argv, env } = start;
  if (start.execve === undefined || sizeIsChosen(execArgv, env['NODE_OPTIONS'])) return;
  const args = [execPath, ...boundedMemoryFlags, ...execArgv, ...argv.slice(1)];
  start.execve(execPath, args, { ...boundedMemoryEnvironment, ...definedIn(env) });
}

function sizeIsChosen(execArgv: readonly string[], options = ''): boolean {
  return [...execArgv, ...options.split(/\s+/)].some((flag) =>
    flag.replaceAll('_', '-').startsWith('--max-semi-space-size'),
  );
}

function definedIn(env: ProcessStart['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
