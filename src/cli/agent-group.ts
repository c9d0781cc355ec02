import { Command, Option } from 'commander';
import type { AgentFlags } from './checkpoint/index.ts';
import { agentOptions } from './checkpoint/index.ts';

export interface ListFlags extends AgentFlags {
  output: 'json' | 'yaml' | 'table';
}

/** A command whose parts all ask the agent of a node. */
export function agentGroup(name: string, description: string, parts: readonly Command[]): Command {
  const group = new Command(name).description(description).helpCommand(false);
  for (const option of agentOptions('whose agent is asked (default: the only node, or this machine)'))
    group.addOption(option);
  for (const part of parts) group.addCommand(part.configureHelp({ showGlobalOptions: true }));
  return group;
}

export const listOutput = () =>
  new Option('-o, --output <format>', 'table, json or yaml')
    .choices(['table', 'json', 'yaml'])
    .default('table');
