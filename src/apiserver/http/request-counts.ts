import type { FastifyReply, FastifyRequest } from 'fastify';
import type { MetricsRegistry } from '../../base/index.ts';
import { Counter } from '../../base/index.ts';
import { isAsked } from '../handlers/index.ts';
import { apiGroupOf } from './routing/paths.ts';
import { queryOf } from './routing/request.ts';
import type { Route } from './routing/routes.ts';

/** What a path is counted as. The values come from the routes, never from a request: they are bounded. */
interface PathLabels {
  group: string;
  version: string;
  resource: string;
  subresource: string;
}

const labelNames = [
  'verb',
  'dry_run',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'component',
  'code',
] as const;

/** Counts what is answered on a path of objects. */
export interface RouteCount {
  answered(request: FastifyRequest, reply: FastifyReply): void;
  /** Takes nothing of the request, which would stay in memory as long as the watch. */
  watchEnded(code: number): void;
}

/** Counts the requests that were answered, as `apiserver_request_total` of the reference; watches when they end. */
export class RequestCounts {
  readonly #counts: PathCount[] = [];

  constructor(metrics: MetricsRegistry) {
    const counts = this.#counts;
    new Counter({
      name: 'apiserver_request_total',
      help: 'Requests that were answered, by verb, dry run, group, version, resource, scope and code.',
      labelNames,
      registers: [metrics],
      collect() {
        this.reset();
        for (const each of counts) {
          for (const [labels, count] of each.series()) this.inc(labels, count);
        }
      },
    });
  }

  /** Creates the count of a path of objects. */
  ofRoute(route: Route): RouteCount {
    const { version, resource } = route.resource.kind;
    const group = apiGroupOf(route.resource);
    const count = this.#add({ group, version, resource, subresource: route.subresource });
    return {
      answered(request, { statusCode }) {
        const verb = verbOf(route, request);
        count.add([verb, dryRunOf(request), scopeOf(route, verb)], statusCode);
      },
      watchEnded: (code) => count.add([watchVerb, '', scopeOf(route, watchVerb)], code),
    };
  }

  /** Creates the count of other paths; `labels` tells what they are, in values that are bounded. */
  of(labels: Partial<PathLabels>, scope = ''): (request: FastifyRequest, reply: FastifyReply) => void {
    const count = this.#add({ group: '', version: '', resource: '', subresource: '', ...labels });
    return ({ method }, reply) => count.add([plainVerbs[method] ?? other, '', scope], reply.statusCode);
  }

  #add(labels: PathLabels): PathCount {
    const count = new PathCount(labels);
    this.#counts.push(count);
    return count;
  }
}

type Parts = readonly [verb: string, dryRun: string, scope: string];

/** The requests of one path. Adding is cheap: the labels are made when the metrics are collected. */
class PathCount {
  readonly #labels: PathLabels;
  readonly #counts = new Map<string, { parts: Parts; code: number; count: number }>();

  constructor(labels: PathLabels) {
    this.#labels = labels;
  }

  add(parts: Parts, code: number): void {
    const key = `${parts[0]} ${parts[1]} ${parts[2]} ${code}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { parts, code, count: 1 });
    else known.count++;
  }

  *series(): Generator<[Record<(typeof labelNames)[number], string>, number]> {
    for (const { parts, code, count } of this.#counts.values()) {
      const [verb, dry_run, scope] = parts;
      const more = { scope, component: 'apiserver', code: String(code) };
      yield [{ verb, dry_run, ...this.#labels, ...more }, count];
    }
  }
}

const other = 'other';
const watchVerb = 'WATCH';
const plainVerbs: Readonly<Record<string, string>> = {
  GET: 'GET',
  HEAD: 'GET',
  POST: 'POST',
  PUT: 'PUT',
  PATCH: 'PATCH',
  DELETE: 'DELETE',
};

function verbOf({ collection }: Route, request: FastifyRequest): string {
  const verb = plainVerbs[request.method] ?? other;
  if (verb === 'PATCH') return isApply(request) ? 'APPLY' : verb;
  if (!collection) return verb;
  if (verb === 'DELETE') return 'DELETECOLLECTION';
  if (verb !== 'GET') return verb;
  return isAsked(queryOf(request), 'watch') ? watchVerb : 'LIST';
}

function isApply({ headers }: FastifyRequest): boolean {
  return (headers['content-type'] ?? '').startsWith('application/apply-patch');
}

function scopeOf({ places }: Route, verb: string): string {
  if (places.name || verb === 'POST') return 'resource';
  return places.namespace ? 'namespace' : 'cluster';
}

function dryRunOf(request: FastifyRequest): string {
  if (!request.url.includes('dryRun')) return '';
  const asked = queryOf(request).getAll('dryRun');
  if (asked.length === 0) return '';
  return asked.every((stage) => stage === 'All' || stage === '') ? 'All' : 'invalid';
}
