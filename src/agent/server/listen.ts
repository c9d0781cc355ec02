import { describeError, ExitError, errorCode, exitCodes } from '../../base/index.ts';

/** Says in one sentence why nothing can listen there, and what to do; `setting`: where the port is chosen. */
export function listenError(error: unknown, address: string, port: number, setting = '--port'): ExitError {
  const place = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: `another process uses that port; choose another with ${setting}`,
    EADDRNOTAVAIL: `this machine has no such address; choose another with ${setting === '--port' ? '--address' : 'healthzBindAddress'}`,
    EACCES: `this user may not use that port; choose one above 1023 with ${setting}`,
  };
  const told = why[errorCode(error) ?? ''] ?? describeError(error);
  return new ExitError(exitCodes.address, `the agent cannot listen on ${place}: ${told}`);
}
