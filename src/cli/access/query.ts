import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { checkName } from '../../api/index.ts';
import { ExitError, errorCode, exitCodes } from '../../base/index.ts';
import type { Kubeconfig } from '../../client/index.ts';
import { ApiClient, clientOptionsOf, readKubeconfig } from '../../client/index.ts';
import { rootDirOption } from '../flags/common-flags.ts';
import { parseFilePath } from '../flags/values.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption } from '../terminal/output.ts';

export interface ServerFlags extends OutputFlags {
  rootDir: string;
  kubeconfig?: string;
}

/** A command that asks the API server about access. */
export function createQueryCommand(
  name: string,
  description: string,
  output: Option = textOutputOption(),
): Command {
  return new Command(name)
    .description(description)
    .addOption(rootDirOption())
    .addOption(
      new Option(
        '--kubeconfig <file>',
        "credentials for the request (default: the administrator's in the root dir)",
      ).argParser(parseFilePath),
    )
    .addOption(output);
}

export function parseNamespace(text: string): string {
  const problem = checkName('label', text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It must be the name of a namespace: ${problem}.`);
}

/** Calls `use` with a client that has the credentials of `--kubeconfig`, or the administrator's in the root dir. */
export async function withClient<T>(
  { rootDir, kubeconfig }: ServerFlags,
  use: (client: ApiClient) => Promise<T>,
): Promise<T> {
  const config =
    kubeconfig === undefined ? await readAdminKubeconfig(rootDir) : await readKubeconfig(kubeconfig);
  await using client = new ApiClient(clientOptionsOf(config));
  return await use(client);
}

async function readAdminKubeconfig(rootDir: string): Promise<Kubeconfig> {
  const file = join(rootDir, 'admin.kubeconfig');
  try {
    return await readKubeconfig(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new ExitError(
      exitCodes.configuration,
      `there is no ${file}; name the control plane's folder with --root-dir, or a kubeconfig with --kubeconfig`,
    );
  }
}
