import { expandReferences } from '../downward/index.ts';
import type { PodCalls } from '../runtime/index.ts';
import { RuntimeError } from '../runtime/index.ts';
import type { Container, Probe, ProbeOutcome, ProbePlace } from './types.ts';
import { formatSeconds } from './types.ts';

type ExecAction = NonNullable<Probe['exec']>;

const maxOutputBytes = 10 * 1024;

/** A command that exits with 0 in the container is success. The runtime ends one that takes too long. */
export async function probeExec(
  { command = [] }: ExecAction,
  { containerId, container }: ProbePlace,
  timeoutSeconds: number,
  calls: Pick<PodCalls, 'execSync'>,
  signal: AbortSignal,
): Promise<ProbeOutcome> {
  const variables = staticVariables(container);
  const expanded = command.map((each) => expandReferences(each, variables));
  try {
    const { exitCode, stdout, stderr } = await calls.execSync(containerId, expanded, timeoutSeconds, signal);
    if (exitCode === 0) return { result: 'success' };
    return { result: 'failure', output: textOf(stdout, stderr) };
  } catch (error) {
    const isLate = signal.aborted || (error instanceof RuntimeError && error.reason === 'timeout');
    if (!isLate) throw error;
    const after = `timed out after ${formatSeconds(timeoutSeconds)}`;
    return { result: 'failure', output: `command timed out: ${JSON.stringify(expanded.join(' '))} ${after}` };
  }
}

/** What variables are without asking anything, as in the reference: those with a source are empty. */
function staticVariables({ env = [] }: Pick<Container, 'env'>): ReadonlyMap<string, string> {
  return new Map(env.map(({ name, value = '' }) => [name, value]));
}

function textOf(stdout: Uint8Array, stderr: Uint8Array): string {
  const all = Buffer.concat([stdout.subarray(0, maxOutputBytes), stderr.subarray(0, maxOutputBytes)]);
  return all.subarray(0, maxOutputBytes).toString('utf8');
}
