import { Command, Option } from 'commander';
import type { PlaceFlags } from '../flags/common-flags.ts';
import { groupSuffixOption, rootDirOption, serverOption } from '../flags/common-flags.ts';

/** How the agent of a node is reached. */
export interface AgentFlags extends PlaceFlags {
  node?: string;
  groupSuffix: string;
}

/** The options of every command that sends requests to an agent. `nodeHelp`: the description of `--node`. */
export const agentOptions = (
  nodeHelp = 'node whose agent is asked (default: the only node, or this machine)',
) => [
  serverOption(
    'credentials for requests through the control plane (default: $KUBECONFIG, or those in the root dir, to the agent itself)',
  ),
  rootDirOption(),
  new Option('--node <name>', nodeHelp),
  groupSuffixOption(),
];

/** A command whose subcommands all send requests to the agent of a node. */
export function createAgentCommand(
  name: string,
  description: string,
  subcommands: readonly Command[],
): Command {
  const group = new Command(name).description(description).helpCommand(false);
  for (const option of agentOptions()) group.addOption(option);
  for (const each of subcommands) group.addCommand(each.configureHelp({ showGlobalOptions: true }));
  return group;
}
