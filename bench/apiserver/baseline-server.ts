/**
 * The least that can answer over HTTPS: reads the body and answers bytes of the same size as the API's, no more. What a
 * request costs there is what TLS, HTTP and the runtime cost; the rest is ours. Run by bench/apiserver/main.ts with the
 * files of a certificate and its key.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [cert = '', key = ''] = process.argv.slice(2);
const bodies = new Map<number, Buffer>();

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
  const size = Number(new URL(request.url ?? '/', 'https://localhost').searchParams.get('bytes') ?? 600);
  const body = bodies.get(size) ?? Buffer.alloc(size, 0x20);
  bodies.set(size, body);
  request.resume();
  request.once('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) process.stdout.write(`${address.port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
