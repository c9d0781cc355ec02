import { InvalidArgumentError, Option } from 'commander';
import { checkName } from '../../api/index.ts';
import type { ApiServerOptions } from '../../apiserver/index.ts';

/** Who gives pods nodes. */
export interface SchedulerFlags {
  scheduler?: boolean;
  schedulerName: string;
  taintDomain: string;
}

export const schedulerOptions = () => [
  new Option(
    '--scheduler',
    'give pods nodes; by default another scheduler does, or the client that creates them',
  ),
  new Option(
    '--scheduler-name <name>',
    'with --scheduler: pods that name it in spec.schedulerName are given nodes',
  )
    .default('default-scheduler')
    .argParser(parseName),
];

export function readSchedulerFlags(
  flags: SchedulerFlags,
): NonNullable<ApiServerOptions['scheduler']> | undefined {
  return flags.scheduler === true ? { name: flags.schedulerName, taintDomain: flags.taintDomain } : undefined;
}

function parseName(text: string): string {
  if (checkName('subdomain', text) === undefined) return text;
  throw new InvalidArgumentError('It must be the name of a scheduler, such as default-scheduler.');
}
