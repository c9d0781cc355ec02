import { X509Certificate } from 'node:crypto';
import type { Clock, Logger, Service } from '../../base/index.ts';
import { describeError, ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import { createFileReload } from './file-reload.ts';

const limitBytes = 1024 * 1024;
const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Authorities in a PEM file whose client certificates are taken beside those of the cluster's own. Throws an ExitError
 * where the file cannot be read, has none, or has one that is no authority.
 */
export async function readClientCa(path: string): Promise<string> {
  try {
    const found = (await readRegularFile(path, { limitBytes })).toString('latin1').match(certificate) ?? [];
    if (found.length === 0) throw new Error('it has no certificate in PEM');
    const other = found.map((pem) => new X509Certificate(pem)).find(({ ca }) => !ca);
    if (other !== undefined) throw new Error(`its certificate of ${other.subject} is not of an authority`);
    return found.join('\n');
  } catch (error) {
    const why = `the authorities of clients in ${path} cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, why, { cause: error });
  }
}

export interface ClientCaOptions {
  path: string;
  /** What is in use. */
  pem: string;
  dependsOn: readonly string[];
  clock: Clock;
  log: Logger;
  /** Called with the new content of the file. */
  onChanged(pem: string): void;
}

/** The service `client-ca`. */
export function clientCaReload({ path, pem, dependsOn, clock, log, onChanged }: ClientCaOptions): Service {
  return createFileReload({
    name: 'client-ca',
    dependsOn,
    path,
    what: 'the authorities of clients',
    read: () => readClientCa(path),
    inUse: pem,
    isSame: (one, other) => one === other,
    onChanged,
    clock,
    log,
  });
}
