import type { ConnectionOptions } from 'node:tls';
import type { HttpsApp, HttpsServerOptions, TlsCredentials } from '../../../../src/base/https/index.ts';
import { HttpsServer } from '../../../../src/base/https/index.ts';
import type { Pair } from '../../../../src/base/x509/index.ts';
import { alternativeNames, createAuthority, issuePair } from '../../../../src/base/x509/index.ts';
import { RawConnection } from '../../apiserver/support/raw-connection.ts';

const dayMs = 24 * 3600_000;

export async function createCa(name: string): Promise<Pair> {
  return await createAuthority(name, 30 * dayMs, Date.now() - dayMs);
}

export const ca = await createCa('test-ca');
const pair = await issuePair(ca, {
  subject: { commonName: 'server', organizations: [] },
  names: alternativeNames(['localhost', '127.0.0.1']),
  use: 'server',
  lifetimeMs: dayMs,
  now: Date.now(),
});
export const credentials: TlsCredentials = { ...pair, clientCa: ca.cert };

/** GET /quick answers at once, GET /slow after `release`, GET /never not at all, POST /echo with the body. */
export async function startServer({
  addRoutes,
  ...options
}: Partial<HttpsServerOptions> & { addRoutes?(app: HttpsApp): void } = {}) {
  const server = new HttpsServer({
    credentials,
    onError: (error, _request, reply) => reply.code(error.statusCode ?? 500).send(error.code),
    ...options,
  });
  server.app.get('/quick', (_request, reply) => reply.send('quick'));
  addRoutes?.(server.app);
  const asked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  server.app.get('/slow', async (_request, reply) => {
    asked.resolve();
    await released.promise;
    return reply.send('slow');
  });
  server.app.get('/never', () => new Promise(() => undefined));
  server.app.post('/echo', (request, reply) =>
    reply.send(`${request.headers['content-type']} ${request.body}`),
  );
  const port = await server.listen({
    who: 'the test',
    address: '127.0.0.1',
    port: 0,
    addressSetting: '--address',
    portSetting: '--port',
  });
  const tlsOptions: ConnectionOptions = { host: '127.0.0.1', port, ca: ca.cert };
  return {
    server,
    port,
    tlsOptions,
    /** Resolves when somebody has asked for /slow. */
    slowAsked: asked.promise,
    release: released.resolve,
    connect: (more: ConnectionOptions & { localAddress?: string } = {}) =>
      RawConnection.open({ ...tlsOptions, ...more }),
    [Symbol.asyncDispose]: () => server.close(0),
  };
}

export const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;
