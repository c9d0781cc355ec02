/** A condition that must hold for the server to be healthy. */
export interface HealthCheck {
  name: string;
  /** Whether it concerns readiness only: a restart of the server would not help. */
  readyOnly?: boolean;
  /** Returns undefined when healthy, else the reason, for the log. */
  check(): Promise<string | undefined> | string | undefined;
  /** A remark for the report of a healthy server. Anyone may read it. */
  note?(): string | undefined;
}

export interface HealthReport {
  ok: boolean;
  /** Public: without reasons. */
  text: string;
  /** The reasons, by the name of the check. */
  failures: Readonly<Record<string, string>>;
}

/**
 * Runs the checks. The text is `ok`; with `verbose`, or when a check fails, it has a line for each check in the format of
 * the reference, with its note. It withholds the reasons of failures, because anyone may ask.
 */
export async function reportHealth(
  endpoint: string,
  checks: readonly HealthCheck[],
  verbose: boolean,
): Promise<HealthReport> {
  const results = await Promise.all(
    checks.map(async (one) => ({ name: one.name, failure: await one.check(), note: one.note?.() })),
  );
  const ok = results.every(({ failure }) => failure === undefined);
  const failures = Object.fromEntries(
    results.flatMap(({ name, failure }) => (failure === undefined ? [] : [[name, failure]])),
  );
  if (ok && !verbose) return { ok, text: 'ok', failures };
  const lines = results.map(({ name, failure, note }) => {
    if (failure !== undefined) return `[-]${name} failed: reason withheld`;
    return note === undefined ? `[+]${name} ok` : `[+]${name} ok: ${note}`;
  });
  lines.push(`${endpoint} check ${ok ? 'passed' : 'failed'}`);
  return { ok, text: `${lines.join('\n')}\n`, failures };
}
