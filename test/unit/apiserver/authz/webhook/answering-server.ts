import { writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { alternativeNames, createAuthority, issuePair } from '../../../../../src/base/x509/index.ts';
import { renderKubeconfig } from '../../../../../src/client/index.ts';
import { temporaryFolder } from '../../../../support/index.ts';

/** What the other server says: a status, other bytes, or nothing at all. */
type Said = { status: object } | { code?: number; text: string } | 'hang';
export type Say = (review: Review) => Said | Promise<Said>;

export interface Review {
  apiVersion: string;
  kind: string;
  spec: Record<string, unknown>;
}

export interface Asked {
  path: string | undefined;
  authorization: string | undefined;
  review: Review;
}

const hourMs = 3600_000;

/** A server over TLS that is asked by SubjectAccessReview; `say` may be replaced at any time. */
export async function answeringServer(say: Say) {
  const folder = await temporaryFolder();
  const authority = await createAuthority('elsewhere', hourMs, Date.now());
  const pair = await issuePair(authority, {
    subject: { commonName: 'authorizer', organizations: [] },
    names: alternativeNames(['127.0.0.1']),
    use: 'server',
    lifetimeMs: hourMs,
    now: Date.now(),
  });
  const asked: Asked[] = [];
  const speech = { say };
  const sockets = new Set<Socket>();
  const server = createServer(pair, async (request, response) => {
    const review: Review = JSON.parse(await textOf(request));
    asked.push({ path: request.url, authorization: request.headers.authorization, review });
    const said = await speech.say(review);
    if (said === 'hang') return;
    if ('status' in said) response.end(JSON.stringify({ ...review, status: said.status }));
    else response.writeHead(said.code ?? 200).end(said.text);
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const kubeconfig = join(folder.path, 'webhook.kubeconfig');
  const entry = { ca: authority.cert, token: 'webhook-token', user: 'nodeward' };
  await writeFile(kubeconfig, renderKubeconfig({ ...entry, server: `https://127.0.0.1:${port}/authorize` }));

  function stop(): void {
    server.close();
    for (const socket of sockets) socket.destroy();
  }

  return {
    kubeconfig,
    asked,
    speech,
    stop,
    async [Symbol.asyncDispose]() {
      stop();
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString('utf8');
}
