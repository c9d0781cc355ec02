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

/** Files with the agent's serving credentials, in place of those of the node's identity; empty where there are none. */
export interface ServingFileNames {
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;
  readonly clientCAFile: string;
}

/** The server's credentials: those of the node's identity, each part replaced by a configured file. */
export interface ServingFiles {
  readonly serving: Latest<ServingCredentials>;
  /** Reads the files; rejects with an ExitError when one cannot be used. Calling the result begins to use them. */
  prepare(names: ServingFileNames): Promise<() => void>;
  /** Uses the identity from now on, for the parts without a file. */
  follow(identity: Identity['serving']): Disposable;
}

/** Rejects with an ExitError when one of the files cannot be used. */
export async function checkServingFiles(names: ServingFileNames): Promise<void> {
  await readFiles(names);
}

type FileCredentials = Partial<ServingCredentials>;

const limitBytes = 1024 * 1024;

export function createServingFiles(): ServingFiles {
  const serving = createLatest<ServingCredentials>();
  let fromFiles: FileCredentials = {};
  let fromIdentity: FileCredentials = {};

  function publish(): void {
    const { pair = fromIdentity.pair, clientCa = fromIdentity.clientCa } = fromFiles;
    if (pair === undefined || clientCa === undefined) return;
    const { value } = serving;
    if (value?.pair.cert === pair.cert && value.pair.key === pair.key && value.clientCa === clientCa) return;
    serving.set({ pair, clientCa });
  }

  return {
    serving,
    async prepare(names) {
      const next = await readFiles(names);
      return () => {
        fromFiles = next;
        publish();
      };
    },
    follow(identity) {
      const take = (next: ServingCredentials) => {
        fromIdentity = next;
        publish();
      };
      if (identity.value !== undefined) take(identity.value);
      return identity.onChange(take);
    },
  };
}

async function readFiles({
  tlsCertFile,
  tlsPrivateKeyFile,
  clientCAFile,
}: ServingFileNames): Promise<FileCredentials> {
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

/** The service `serving-files`: rereads the files, so that renewing them needs no signal. Invalid files are ignored. */
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
