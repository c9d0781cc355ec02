import type { FastifyReply } from 'fastify';
import { RefusedError, sendText } from './refusal.ts';
import type { AgentRequest, AgentRoute } from './route.ts';

/** A health check. */
export interface HealthCheck {
  readonly name: string;
  /**
   * It checks a peer, which a restart of the agent does not repair: its failure is reported, but counts only for requests
   * for this check by name.
   */
  readonly ofPeer?: boolean;
  /** Returns why the check fails, or undefined, without waiting for anything. */
  check(): string | undefined;
}

export interface HealthReport {
  readonly healthy: boolean;
  readonly text: string;
}

export interface HealthQuery {
  /** Report each check, also when all pass. */
  readonly verbose: boolean;
  /** Names of checks that are left out. */
  readonly exclude: readonly string[];
  /** False for unauthenticated callers: the report has which checks fail, but not why. */
  readonly reasons: boolean;
}

/** Runs all checks and reports them in the form of the reference: `ok`, or one line for each. */
export function reportHealth(checks: readonly HealthCheck[], query: HealthQuery): HealthReport {
  const results = checks.map(({ name, check, ofPeer = false }) => {
    const excluded = query.exclude.includes(name);
    return { name, ofPeer, excluded, wrong: excluded ? undefined : check() };
  });
  const healthy = results.every(({ ofPeer, wrong }) => ofPeer || wrong === undefined);
  if (healthy && !query.verbose) return { healthy, text: 'ok' };
  const lines = results.map(({ name, ofPeer, excluded, wrong }) => {
    if (excluded) return `[+]${name} excluded: ok`;
    if (wrong === undefined) return `[+]${name} ok`;
    const failed = `[-]${name} failed${ofPeer ? ' (not counted)' : ''}`;
    return `${failed}: ${query.reasons ? wrong : 'reason withheld'}`;
  });
  const unknown = query.exclude.filter((name) => !checks.some((check) => check.name === name));
  if (unknown.length > 0) lines.push(formatUnknown(unknown));
  const end = `healthz check ${healthy ? 'passed' : 'failed'}`;
  return { healthy, text: `${[...lines, end].join('\n')}\n` };
}

function formatUnknown(names: readonly string[]): string {
  const listed = [...new Set(names)].sort().map((name) => JSON.stringify(name));
  return `warn: some health checks cannot be excluded: no matches for ${listed.join(',')}`;
}

/** Reads `?verbose&exclude=NAME`. */
export function readHealthQuery(query: URLSearchParams, reasons: boolean): HealthQuery {
  return { verbose: query.has('verbose'), exclude: query.getAll('exclude'), reasons };
}

/** `/healthz` with all checks, and `/healthz/NAME` for one, with the reasons of failures. */
export function healthRoutes(checks: readonly HealthCheck[]): readonly AgentRoute[] {
  function answer({ reply, query }: AgentRequest, chosen: readonly HealthCheck[]): FastifyReply {
    const { healthy, text } = reportHealth(chosen, readHealthQuery(query, true));
    return sendText(reply, healthy ? 200 : 500, text);
  }

  function answerOne(request: AgentRequest): FastifyReply {
    const chosen = checks.filter(({ name }) => name === request.params['check']);
    if (chosen.length === 0) throw new RefusedError(404, '404 page not found');
    return answer(
      request,
      chosen.map((check) => ({ ...check, ofPeer: false })),
    );
  }

  return [
    { path: '/healthz', subresource: 'healthz', methods: { GET: (request) => answer(request, checks) } },
    { path: '/healthz/:check', subresource: 'healthz', methods: { GET: answerOne } },
  ];
}
