import { Option } from 'commander';
import type { ApiServerOptions } from '../../apiserver/index.ts';
import { ExitError, exitCodes } from '../../base/index.ts';
import { parseFileOrDash, parseFilePath, wholeNumberParser } from './values.ts';

/** The flags of the audit log, named like those of kube-apiserver. */
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
    'which requests to log, and how much of them (audit.k8s.io/v1, Policy)',
  ).argParser(parseFilePath),
  new Option('--audit-log-path <file>', 'the audit log, JSON lines; - for standard output').argParser(
    parseFileOrDash,
  ),
  new Option('--audit-log-maxsize <MiB>', 'size at which the file is rotated')
    .default(100)
    .argParser(wholeNumberParser(1, 1_000_000)),
  new Option('--audit-log-maxbackup <count>', 'how many rotated files are kept')
    .default(10)
    .argParser(wholeNumberParser(0, 10_000)),
];

/** Undefined without an audit log. Throws an ExitError when only one of log and policy is given. */
export function readAuditFlags(flags: AuditFlags): ApiServerOptions['audit'] {
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
