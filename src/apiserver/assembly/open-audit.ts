import { loadYamlReader } from '../../api/index.ts';
import type { Clock, Logger, MetricsRegistry } from '../../base/index.ts';
import { Counter, describeError, ExitError, exitCodes, readRegularFile } from '../../base/index.ts';
import type { AuditPolicy, AuditSink } from '../audit/index.ts';
import { openLogFile, readAuditPolicy } from '../audit/index.ts';

/** What is kept of requests, and where. */
export interface AuditSettings {
  /** A policy in YAML or JSON, see docs/audit.md. */
  policyFile: string;
  /** JSON lines; `-` is standard output. */
  logPath: string;
  /** Default 100 MiB. */
  maxBytes?: number;
  /** Default 10. */
  maxBackups?: number;
}

const limitBytes = 1024 * 1024;
const bufferBytes = 16 * 1024 * 1024;

/** Throws an ExitError when the policy cannot be used or the log cannot be written. */
export async function openAudit(
  { policyFile, logPath, maxBytes = 100 * 1024 ** 2, maxBackups = 10 }: AuditSettings,
  { metrics, clock, log }: { metrics: MetricsRegistry; clock: Clock; log: Logger },
): Promise<{ policy: AuditPolicy; sink: AuditSink }> {
  const policy = readAuditPolicy(await readPolicy(policyFile), policyFile);
  if (logPath === '-') return { policy, sink: standardOutput };
  const lost = new Counter({
    name: 'nodeward_audit_lines_lost_total',
    help: 'Lines of the audit log that the disk did not take in time.',
    registers: [metrics],
  });
  const onLost = (lines: number) => lost.inc(lines);
  const options = { path: logPath, maxBytes, maxBackups, bufferBytes, clock, log, onLost };
  return { policy, sink: await openLogFile(options) };
}

const standardOutput: AuditSink = {
  write: (line) => void process.stdout.write(`${line}\n`),
  [Symbol.asyncDispose]: async () => undefined,
};

async function readPolicy(path: string): Promise<unknown> {
  try {
    const text = (await readRegularFile(path, { limitBytes })).toString('utf8');
    const readYaml = await loadYamlReader();
    return readYaml(text).value;
  } catch (error) {
    const why = `the audit policy ${path} cannot be read: ${describeError(error)}`;
    throw new ExitError(exitCodes.configuration, why, { cause: error });
  }
}
