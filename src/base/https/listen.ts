import { describeError, ExitError, errorCode, exitCodes } from '../errors.ts';

/** Where a server listens, and what its user changes to move it. */
export interface ListenAddress {
  /** The subject of the error message, such as `the agent`. */
  readonly who: string;
  /** An IP address. */
  readonly address: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** The flag or field that sets the address, such as `--address`. */
  readonly addressSetting: string;
  /** The same for the port. */
  readonly portSetting: string;
}

/** Returns, for what the system threw, one sentence on why nothing can listen there and what to do. */
export function listenError(error: unknown, listen: ListenAddress): ExitError {
  const { who, address, port, addressSetting, portSetting } = listen;
  const place = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `another process uses that port; choose another with ${portSetting}`,
    EADDRNOTAVAIL: `this machine has no such address; choose another with ${addressSetting}`,
    EACCES: `this user may not use that port; choose one above 1023 with ${portSetting}`,
  };
  const reason = reasons[errorCode(error) ?? ''] ?? describeError(error);
  return new ExitError(exitCodes.address, `${who} cannot listen on ${place}: ${reason}`);
}
