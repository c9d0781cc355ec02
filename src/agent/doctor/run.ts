import type { Clock } from '../../base/index.ts';
import { DeadlineError, describeError, withDeadline } from '../../base/index.ts';
import type { Host } from './host.ts';
import type { Check, Finding, Row } from './types.ts';
import { topics, unknown } from './types.ts';

const defaultTimeoutMs = 8000;
/** No finding may flood a terminal or a log, whatever it quotes. */
const textLimit = 600;

/**
 * Makes all checks at once, each within its time: one that hangs or throws is `unknown` and holds up no other. Rejects
 * only when `signal` aborts. The rows come by topic, in the order of the checks.
 */
export async function runChecks(
  checks: readonly Check[],
  host: Host,
  clock: Clock,
  signal: AbortSignal,
): Promise<Row[]> {
  const rows = await Promise.all(checks.map((check) => runCheck(check, host, clock, signal)));
  return rows.toSorted((a, b) => topics.indexOf(a.topic) - topics.indexOf(b.topic));
}

async function runCheck(check: Check, host: Host, clock: Clock, signal: AbortSignal): Promise<Row> {
  const { id, topic, title, needed, timeoutMs = defaultTimeoutMs } = check;
  const finding = await withDeadline({ clock, timeoutMs, signal }, `the check ${id}`, async (inner) =>
    check.run(host, inner),
  ).catch((error: unknown): Finding => {
    signal.throwIfAborted();
    if (error instanceof DeadlineError) return unknown(`no answer within ${timeoutMs / 1000} s`, hungAdvice);
    return unknown(bounded(`it could not be looked at: ${describeError(error)}`));
  });
  return { id, topic, title, needed, ...finding, found: bounded(finding.found) };
}

const hungAdvice = 'look for a disk, a mount or a service that hangs, and try again';

function bounded(text: string): string {
  return text.length <= textLimit ? text : `${text.slice(0, textLimit)}…`;
}
