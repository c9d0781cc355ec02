import type { Clock } from '../../base/index.ts';
import { DeadlineError, describeError, withDeadline } from '../../base/index.ts';
import type { Host } from './host.ts';
import type { Check, Finding, Row } from './types.ts';
import { topics, unknown } from './types.ts';

const defaultTimeoutMs = 8000;
/** In characters: a finding may quote long output, and must not flood a terminal or a log. */
const maxTextLength = 600;

/**
 * Runs all checks concurrently, each within its timeout: one that hangs or throws becomes `unknown` and does not delay
 * the others. Rejects only when `signal` aborts. Rows are sorted by topic, then in the order of the checks.
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
    return unknown(truncate(`it could not be looked at: ${describeError(error)}`));
  });
  return { id, topic, title, needed, ...finding, found: truncate(finding.found) };
}

const hungAdvice = 'look for a disk, a mount or a service that hangs, and try again';

function truncate(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength)}…`;
}
