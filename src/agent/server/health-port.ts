import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { listenError } from '../../base/https/index.ts';
import type { Service } from '../../base/index.ts';
import { untilAborted } from '../../base/index.ts';
import type { HealthCheck } from './health.ts';
import { readHealthQuery, reportHealth } from './health.ts';

export interface HealthPortOptions {
  /** An IP address. Callers are not authenticated: use the loopback address. */
  address: string;
  port: number;
  checks: readonly HealthCheck[];
  dependsOn: readonly string[];
}

const limits = { headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 5000, maxHeaderSize: 8192 };
const maxConnections = 64;

/**
 * The service `healthz`: `/healthz` over plain HTTP, as in the reference, for probes of this machine that have no
 * credentials. It reports which checks fail and nothing else. Bodies are not read.
 */
export function healthPort(options: HealthPortOptions): Service {
  return {
    name: 'healthz',
    dependsOn: options.dependsOn,
    onFailure: 'stop',
    async run(signal, ready) {
      const server = createServer({ ...limits, connectionsCheckingInterval: 1000 }, (request, response) =>
        answer(request, response, options.checks),
      );
      server.maxConnections = maxConnections;
      await listen(server, options);
      ready();
      await untilAborted(signal);
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, checks: readonly HealthCheck[]): void {
  const { code, text, allow } = answerOf(request, checks);
  response.writeHead(code, {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...(allow === undefined ? {} : { allow }),
  });
  response.end(request.method === 'HEAD' ? undefined : text);
}

function answerOf(
  { method = '', url = '' }: IncomingMessage,
  checks: readonly HealthCheck[],
): { code: number; text: string; allow?: string } {
  const [path = '', ...rest] = url.split('?');
  if (path !== '/healthz') return { code: 404, text: '404 page not found' };
  const allow = 'GET, HEAD';
  if (method !== 'GET' && method !== 'HEAD')
    return { code: 405, text: `Method Not Allowed: only ${allow} is served here`, allow };
  const query = readHealthQuery(new URLSearchParams(rest.join('?')), false);
  const { healthy, text } = reportHealth(checks, query);
  return { code: healthy ? 200 : 500, text };
}

function listen(server: Server, { address, port }: HealthPortOptions): Promise<void> {
  const [addressSetting, portSetting] = ['healthzBindAddress', 'healthzPort'];
  return new Promise((resolve, reject) => {
    const onError = (error: unknown) =>
      reject(listenError(error, { who: 'the agent', address, port, addressSetting, portSetting }));
    server.once('error', onError);
    server.listen({ host: address, port }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}
