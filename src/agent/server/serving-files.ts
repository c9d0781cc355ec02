import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { Clock, Latest, Logger, Service } from '../../base/index.ts';
import {
  createFileFollower,
  createLatest,
  describeError,
  ExitError,
  exitCodes,
  readRegularFile,
} from '../../base/index.ts';
import type { Identity, ServingCredentials } from '../identity/index.ts';

/** Files that the agent serves with instead of what it is given; empty where there are none. */
export interface ServingFileNames {
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly clientCAFile: string;
}

/** What the server shows: what it is given as the node's identity, or what files say in its place. */
export interface ServingFiles {
  readonly serving: Latest<ServingCredentials>;
  /** Reads the files; rejects with an ExitError when one of them cannot be used. The answer switches over to them. */
  prepare(names: ServingFileNames): Promise<() => void>;
  /** From now on the identity counts, where files say nothing. */
  follow(identity: Identity['serving']): Disposable;
}

/** Rejects with an ExitError when one of the files cannot be used. */
export async function checkServingFiles(names: ServingFileNames): Promise<void> {
  await readOwn(names);
}

type Own = Partial<ServingCredentials>;

const limitBytes = 1024 * 1024;

export function createServingFiles(): ServingFiles {
  const serving = createLatest<ServingCredentials>();
  let own: Own = {};
  let given: Own = {};

  function publish(): void {
    const { pair = given.pair, clientCa = given.clientCa } = own;
    if (pair === undefined || clientCa === undefined) return;
    const { value } = serving;
    if (value?.pair.cert === pair.cert && value.pair.key === pair.key && value.clientCa === clientCa) return;
    serving.set({ pair, clientCa });
  }

  return {
    serving,
    async prepare(names) {
      const next = await readOwn(names);
      return () => {
        own = next;
        publish();
      };
    },
    follow(identity) {
      const take = (next: ServingCredentials) => {
        given = next;
        publish();
      };
      if (identity.value !== undefined) take(identity.value);
      return identity.onChange(take);
    },
  };
}

async function readOwn({ tlsCertFile, tlsPrivateKeyFile, clientCAFile }: ServingFileNames): Promise<Own> {
  const clientCa =
    clientCAFile === '' ? undefined : await readPem('clientCAFile', clientCAFile, checkCertificate);
  if (tlsCertFile === '' || tlsPrivateKeyFile === '') return clientCa === undefined ? {} : { clientCa };
  const cert = await readPem('tlsCertFile', tlsCertFile, checkCertificate);
  const key = await readPem('tlsPrivateKeyFile', tlsPrivateKeyFile, (pem) => {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(pem)))
      throw new Error(`it is not the key of the certificate in ${tlsCertFile}`);
  });
  return { pair: { cert, key }, ...(clientCa === undefined ? {} : { clientCa }) };
}

const checkCertificate = (pem: string) => void new X509Certificate(pem);

async function readPem(field: string, path: string, check: (pem: string) => void): Promise<string> {
  try {
    const pem = (await readRegularFile(path, { limitBytes })).toString('utf8');
    check(pem);
    return pem;
  } catch (error) {
    const message = `${field}: ${path} cannot be used: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, message, { cause: error });
  }
}

const rereadMs = 60_000;

/** The service `serving-files`: whoever renews the files need not tell the agent. Files that have gone bad are not taken. */
export function servingFilesService(
  files: ServingFiles,
  names: () => ServingFileNames,
  { clock, log }: { clock: Clock; log: Logger },
): Service {
  return createFileFollower({
    name: 'serving-files',
    dependsOn: ['lock'],
    intervalMs: rereadMs,
    clock,
    async reread() {
      const asked = names();
      const commit = await files.prepare(asked);
      if (names() === asked) commit(); // the configuration may have been loaded again meanwhile, with other files
    },
    onProblem: (problem) => log.warn(`keeping the certificates that are in use: ${problem}`),
  });
}
