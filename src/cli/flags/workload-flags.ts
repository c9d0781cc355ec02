import { Option } from 'commander';
import { parseBoolean } from './values.ts';

/** Who makes pods of Deployments and their like. */
export interface WorkloadFlags {
  workloadControllers: boolean;
}

export const workloadOptions = () => [
  new Option(
    '--workload-controllers <bool>',
    'make the pods of Deployments, Jobs and their like; false: a kube-controller-manager does',
  )
    .default(true)
    .argParser(parseBoolean),
];
