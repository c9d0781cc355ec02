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

export interface HealthQuery {
  /** Report each check, also when all pass. */
  readonly verbose: boolean;
  /** Names of checks that are not run. */
  readonly exclude: readonly string[];
  /** Whether the caller may know why checks fail; asked only when one does. */
  mayKnowWhy(): Promise<boolean>;
}

export interface HealthReport {
  ok: boolean;
  /** For the caller: with those reasons that they may know. */
  text: string;
  /** All reasons, by the name of the check. */
  failures: Readonly<Record<string, string>>;
}

/** The result of one check; undefined when it was not run. */
type Result = { failure?: string | undefined; note?: string | undefined } | undefined;

/**
 * Runs the checks. The text is `ok`; with `verbose`, or when a check fails, it has a line for each check in the format of
 * the reference, with its note.
 */
export async function reportHealth(
  endpoint: string,
  checks: readonly HealthCheck[],
  query: HealthQuery,
): Promise<HealthReport> {
  const run = async ({ name, check, note }: HealthCheck): Promise<Result> =>
    query.exclude.includes(name) ? undefined : { failure: await check(), note: note?.() };
  const results = await Promise.all(checks.map(async (one) => ({ name: one.name, result: await run(one) })));
  const failures: Record<string, string> = {};
  for (const { name, result } of results) {
    if (result?.failure !== undefined) failures[name] = result.failure;
  }
  const ok = Object.keys(failures).length === 0;
  if (ok && !query.verbose) return { ok, text: 'ok', failures };
  const tells = !ok && (await query.mayKnowWhy());
  const lines = results.map(({ name, result }) => formatResult(name, result, tells));
  const unknown = query.exclude.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) lines.push(formatUnknown(unknown));
  lines.push(`${endpoint} check ${ok ? 'passed' : 'failed'}`);
  return { ok, text: `${lines.join('\n')}\n`, failures };
}

function formatResult(name: string, result: Result, tells: boolean): string {
  if (result === undefined) return `[+]${name} excluded: ok`;
  const { failure, note } = result;
  if (failure === undefined) return note === undefined ? `[+]${name} ok` : `[+]${name} ok: ${note}`;
  const reason = tells ? failure.replaceAll('\n', ' ') : 'reason withheld';
  return `[-]${name} failed: ${reason}`;
}

function formatUnknown(names: readonly string[]): string {
  const listed = [...new Set(names)].sort().map((name) => JSON.stringify(name));
  return `warn: some health checks cannot be excluded: no matches for ${listed.join(',')}`;
}
