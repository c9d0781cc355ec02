/** One thing that must be so for the server to be well. */
export interface HealthCheck {
  name: string;
  /** Whether it only says that the server cannot be used now: to start it anew would not help. */
  readyOnly?: boolean;
  /** undefined when all is well, else why not, for the log. */
  check(): Promise<string | undefined> | string | undefined;
  /** What is worth knowing though all is well; everybody may read it. */
  note?(): string | undefined;
}

export interface HealthReport {
  ok: boolean;
  /** For anybody: it does not tell why. */
  text: string;
  /** Why, by check. */
  failures: Readonly<Record<string, string>>;
}

/**
 * Runs the checks: `ok`, or with `verbose`, or when one fails, a line for each, as the reference writes them, with what
 * is to be noted. The reason of a failure is withheld, because everybody may ask.
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
