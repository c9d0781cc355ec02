/** What a process was started with, and how it can replace itself (execve(2)), where the platform has that. */
export interface ProcessStart {
  readonly execPath: string;
  readonly execArgv: readonly string[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  execve?(file: string, args: readonly string[], env: Record<string, string>): void;
}

/**
 * Restarts the process in place (same process id, same standard streams) with the flags that bound its memory: V8 reads
 * flags, and glibc its environment, only at the start. Does nothing when the operator has chosen a size for the young
 * generation, as the flags themselves do, and when systemd has passed descriptors, which would be closed. Call it before anything is opened or loaded that would be lost.
 */
export function restartBounded(
  start: ProcessStart,
  flags: readonly string[],
  environment: Readonly<Record<string, string>>,
): void {
  const { execPath, execArgv, argv, env } = start;
  if (start.execve === undefined || hasChosenSize(execArgv, env['NODE_OPTIONS'])) return;
  if (env['LISTEN_FDS'] !== undefined) return;
  const args = [execPath, ...flags, ...execArgv, ...argv.slice(1)];
  start.execve(execPath, args, { ...environment, ...withoutUndefined(env) });
}

function hasChosenSize(execArgv: readonly string[], options = ''): boolean {
  return [...execArgv, ...options.split(/\s+/)].some((flag) =>
    flag.replaceAll('_', '-').startsWith('--max-semi-space-size'),
  );
}

function withoutUndefined(env: ProcessStart['env']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
