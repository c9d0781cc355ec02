/** One thing that must be well; answers why it is not, or undefined. It must answer at once. */
export interface HealthCheck {
  readonly name: string;
  /** It looks at somebody else, whom no restart of the agent mends: it is told, and counts only when asked for by name. */
  readonly ofPeer?: boolean;
  check(): string | undefined;
}

export interface HealthReport {
  readonly healthy: boolean;
  readonly text: string;
}

export interface HealthAsked {
  /** Tell each check, also when all are well. */
  readonly verbose: boolean;
  /** Names of checks that are left out. */
  readonly exclude: readonly string[];
  /** False: who asks is not known, and is told which checks fail, but not why. */
  readonly reasons: boolean;
}

/** Looks at all checks and tells of them in the form of the reference: `ok`, or one line for each. */
export function reportHealth(checks: readonly HealthCheck[], asked: HealthAsked): HealthReport {
  const results = checks.map(({ name, check, ofPeer = false }) => ({
    name,
    ofPeer,
    excluded: asked.exclude.includes(name),
    wrong: check(),
  }));
  const healthy = results.every(({ excluded, ofPeer, wrong }) => excluded || ofPeer || wrong === undefined);
  if (healthy && !asked.verbose) return { healthy, text: 'ok' };
  const lines = results.map(({ name, ofPeer, excluded, wrong }) => {
    if (excluded) return `[+]${name} excluded: ok`;
    if (wrong === undefined) return `[+]${name} ok`;
    const failed = `[-]${name} failed${ofPeer ? ' (not counted)' : ''}`;
    return `${failed}: ${asked.reasons ? wrong : 'reason withheld'}`;
  });
  const end = `healthz check ${healthy ? 'passed' : 'failed'}`;
  return { healthy, text: `${[...lines, end].join('\n')}\n` };
}

/** How a query says what is asked: `?verbose&exclude=NAME`. */
export function healthAsked(query: URLSearchParams, reasons: boolean): HealthAsked {
  return { verbose: query.has('verbose'), exclude: query.getAll('exclude'), reasons };
}
