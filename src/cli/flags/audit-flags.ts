import { InvalidArgumentError, Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { filePath } from './flags.ts';

/** What is kept of requests, as flags; named as the reference's. */
export interface AuditFlags {
  auditPolicyFile?: string;
  auditLogPath?: string;
  /** MiB. */
  auditLogMaxsize: number;
  auditLogMaxbackup: number;
}

export const auditOptions = () => [
  new Option(
    '--audit-policy-file <file>',
    'what to keep of which requests (audit.k8s.io/v1, Policy)',
  ).argParser(filePath),
  new Option('--audit-log-path <file>', 'where to keep it, as JSON lines; - for standard output').argParser(
    (text) => (text === '-' ? text : filePath(text)),
  ),
  new Option('--audit-log-maxsize <MiB>', 'size at which a file is set aside')
    .default(100)
    .argParser(count(1, 1e6)),
  new Option('--audit-log-maxbackup <count>', 'how many files that were set aside are kept')
    .default(10)
    .argParser(count(0, 1e4)),
];

/** Undefined without a log. Throws an ExitError when one of log and policy is given without the other. */
export function auditOf(flags: AuditFlags): ApiServerOptions['audit'] {
  const { auditPolicyFile: policyFile, auditLogPath: logPath } = flags;
  if (policyFile === undefined && logPath === undefined) return undefined;
  if (policyFile === undefined || logPath === undefined) {
    throw new ExitError(exitCodes.usage, 'an audit log needs both --audit-policy-file and --audit-log-path');
  }
  return {
    policyFile,
    logPath,
    maxBytes: flags.auditLogMaxsize * 1024 ** 2,
    maxBackups: flags.auditLogMaxbackup,
  };
}

function count(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,7}$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };
}
