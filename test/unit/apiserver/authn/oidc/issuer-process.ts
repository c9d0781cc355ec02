/** The program of an OpenID Connect issuer: it serves over TLS what its parent sends it, and counts who asks. */
import { createServer } from 'node:https';

interface Order {
  tls?: { cert: string; key: string };
  /** Bodies by path; `null` is an answer of 500. */
  documents?: Record<string, string | null>;
}

const documents = new Map<string, string | null>();
let asked = 0;

process.on('message', (order: Order) => {
  for (const [path, body] of Object.entries(order.documents ?? {})) documents.set(path, body);
  if (order.tls === undefined) process.send?.({ asked });
  else serve(order.tls);
});
process.on('disconnect', () => process.exit(0));

function serve(tls: { cert: string; key: string }): void {
  const server = createServer(tls, (request, response) => {
    asked += 1;
    const body = documents.get(request.url ?? '');
    if (body === undefined || body === null) response.statusCode = body === null ? 500 : 404;
    response.end(body ?? '');
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 });
  });
}
