import type { Option } from 'commander';
import { Command, InvalidArgumentError } from 'commander';
import { checkName } from '../../api/index.ts';
import { ApiClient, clientOptionsOf } from '../../client/index.ts';
import { readServerKubeconfig } from '../agent-client/server-kubeconfig.ts';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { rootDirOption, serverOption } from '../flags/common-flags.ts';
import type { OutputFlags } from '../terminal/output.ts';
import { textOutputOption } from '../terminal/output.ts';

export interface ServerFlags extends OutputFlags, PlaceFlags {}

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
      serverOption(
        "credentials for the request (default: $KUBECONFIG, or the administrator's in the root dir)",
      ),
    )
    .addOption(output);
}

export function parseNamespace(text: string): string {
  const problem = checkName('label', text);
  if (problem === undefined) return text;
  throw new InvalidArgumentError(`It must be the name of a namespace: ${problem}.`);
}

/** Calls `use` with a client that has the credentials of `--kubeconfig`, or the administrator's in the root dir. */
export async function withClient<T>(flags: ServerFlags, use: (client: ApiClient) => Promise<T>): Promise<T> {
  await using client = new ApiClient(clientOptionsOf(await readServerKubeconfig(flags)));
  return await use(client);
}
