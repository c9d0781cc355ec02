import type { FastifyRequest } from 'fastify';
import { StatusError } from '../../api/index.ts';
import type { HttpsApp } from '../../base/https/index.ts';
import type { MetricsRegistry } from '../../base/index.ts';
import { Histogram } from '../../base/index.ts';
import type { RefuseOptions } from './admission/refuse.ts';
import { refuse } from './admission/refuse.ts';
import type { HttpOptions } from './options.ts';

type Hooks = Pick<HttpsApp, 'addHook'>;

/** Answers requests with 503 once the server stops: they still arrive on open connections. */
export function refuseWhenClosing(app: Hooks): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', (_request, _reply, done) => {
    if (!closing) done();
    else done(serverStopping());
  });
}

/** Aborts once the server stops. */
export function signalStop(app: Hooks): AbortSignal {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  return stopping.signal;
}

function serverStopping(): StatusError {
  return new StatusError('ServiceUnavailable', 'the server is stopping', {
    details: { retryAfterSeconds: 1 },
  });
}

/** Refuses URLs with a fragment, which no proper client sends: the router ignores it, but other readers of the path do not. */
export function refuseFragments(app: Hooks, options: RefuseOptions): void {
  const invalid = () => new StatusError('BadRequest', 'the path is not valid');
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.url.includes('#')) done();
    else refuse(request, options, invalid).catch(done);
  });
}

export function addIntercept(app: Hooks, { intercept }: HttpOptions): void {
  if (intercept !== undefined) app.addHook('onRequest', ({ raw }, reply) => intercept(raw, reply.raw));
}

/** Observes how long each request took, except those in `streams`, whose duration the client or another server decides. */
export function measureDuration(
  app: Hooks,
  metrics: MetricsRegistry,
  streams: WeakSet<FastifyRequest>,
): void {
  const duration = new Histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time to answer a request, without watches.',
    labelNames: ['method', 'code'],
    buckets: [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60],
    registers: [metrics],
  });
  app.addHook('onResponse', (request, reply, done) => {
    const labels = { method: request.method, code: String(reply.statusCode) };
    if (!streams.has(request)) duration.observe(labels, reply.elapsedTime / 1000);
    done();
  });
}
