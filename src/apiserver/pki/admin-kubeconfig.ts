import { stat } from 'node:fs/promises';
import { describeError, ExitError, exitCodes, readRegularFile, writeFileAtomic } from '../../base/index.ts';
import { renderKubeconfig } from '../../client/kubeconfig/index.ts';

export interface AdminKubeconfig {
  /** `https://host:port` */
  server: string;
  /** PEM, all three. */
  ca: string;
  cert: string;
  key: string;
}

const limitBytes = 1024 * 1024;

/**
 * Writes the administrator's kubeconfig (0600, as a whole), with which kubectl works at once. A file that says the same
 * already is left alone, so that who watches it is not disturbed. Throws an ExitError when it cannot be written.
 */
export async function writeAdminKubeconfig(path: string, content: AdminKubeconfig): Promise<void> {
  const text = renderKubeconfig({ ...content, user: 'kubernetes-admin' });
  if (await isThere(path, text)) return;
  try {
    await writeFileAtomic(path, text);
  } catch (error) {
    const message = `cannot write ${path}: ${describeError(error)}`;
    throw new ExitError(exitCodes.unwritable, message, { cause: error });
  }
}

async function isThere(path: string, text: string): Promise<boolean> {
  try {
    const isPrivate = ((await stat(path)).mode & 0o077) === 0;
    return isPrivate && (await readRegularFile(path, { limitBytes })).toString('utf8') === text;
  } catch {
    return false; // whatever it is, it is replaced
  }
}
