import { InvalidArgumentError, Option } from 'commander';
import { checkName } from '../../api/index.ts';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { parseBoolean } from './values.ts';

/** Who gives pods nodes. */
export interface SchedulerFlags {
  scheduler: boolean;
  schedulerName: string;
  taintDomain: string;
}

export const schedulerOptions = () => [
  new Option('--scheduler <bool>', 'give pods nodes; false: another scheduler does, or their clients do')
    .default(true)
    .argParser(parseBoolean),
  new Option('--scheduler-name <name>', 'pods that name it in spec.schedulerName are given nodes')
    .default('default-scheduler')
    .argParser(parseName),
];

export function readSchedulerFlags(flags: SchedulerFlags): ApiServerOptions['scheduler'] {
  return flags.scheduler && { name: flags.schedulerName, taintDomain: flags.taintDomain };
}

function parseName(text: string): string {
  if (checkName('subdomain', text) === undefined) return text;
  throw new InvalidArgumentError('It must be the name of a scheduler, such as default-scheduler.');
}
