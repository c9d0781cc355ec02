import { Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { wholeNumberParser } from './values.ts';

/** What is added to what clients write; the flags are named like those of kube-apiserver. */
export interface AdmissionFlags {
  defaultNotReadyTolerationSeconds: number;
  defaultUnreachableTolerationSeconds: number;
}

const parseSeconds = wholeNumberParser(0, 9_999_999);

export const admissionOptions = () => [
  new Option(
    '--default-not-ready-toleration-seconds <seconds>',
    'how long pods that do not say it stay on a node that is not ready',
  )
    .default(300)
    .argParser(parseSeconds),
  new Option(
    '--default-unreachable-toleration-seconds <seconds>',
    'how long pods that do not say it stay on a node that cannot be reached',
  )
    .default(300)
    .argParser(parseSeconds),
];

export function readAdmissionFlags(
  flags: AdmissionFlags & { taintDomain: string },
): NonNullable<ApiServerOptions['defaultTolerations']> {
  return {
    taintDomain: flags.taintDomain,
    notReadySeconds: flags.defaultNotReadyTolerationSeconds,
    unreachableSeconds: flags.defaultUnreachableTolerationSeconds,
  };
}
