import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EncodedBody } from '../../../api/index.ts';
import {
  apiVersionOf,
  DecodeError,
  decodeObject,
  JsonError,
  ProtobufError,
  parseJson,
  YamlError,
} from '../../../api/index.ts';
import type { HttpsApp } from '../../../base/https/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { AuditPolicy, AuditSink, AuditTrail } from '../../audit/index.ts';
import { startTrail } from '../../audit/index.ts';
import type { Identity } from '../../authn/index.ts';
import type { Attributes, Decision } from '../../authz/index.ts';
import type { ApiRequest } from '../../handlers/index.ts';
import { bodyTypeOf } from '../../handlers/index.ts';

export interface AuditOptions {
  policy: AuditPolicy;
  sink: AuditSink;
}

const trails = new WeakMap<FastifyRequest, AuditTrail>();

/** Keeps what the policy says of every request. Its answer carries the id of its entries as `Audit-Id`. */
export function addAudit(app: Pick<HttpsApp, 'addHook'>, { policy, sink }: AuditOptions, clock: Clock): void {
  app.addHook('onRequest', async (request, reply) => {
    const { method, url: uri, headers, raw } = request;
    const sourceIp = raw.socket.remoteAddress ?? '';
    const userAgent = headers['user-agent'] ?? '';
    const trail = startTrail({ method, uri, sourceIp, userAgent }, { policy, sink, clock });
    trails.set(request, trail);
    reply.header('audit-id', trail.id);
    reply.raw.once('close', () => trail.ended(reply.raw.statusCode, reply.raw.statusCode === 500));
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const trail = trails.get(request);
    if (trail?.keeps.response && isJson(reply))
      trail.record('responseObject', await readAnswer(reply, payload));
  });
}

/** Says who asked for what, and whether they may. */
export function auditAsked(
  request: FastifyRequest,
  { user, impersonator }: Identity,
  attributes: Attributes,
  decision: Decision,
): void {
  const trail = trails.get(request);
  if (trail === undefined) return;
  const impersonated = impersonator && user;
  trail.asked({ user: impersonator ?? user, impersonated, attributes, decision });
}

/** Keeps what was sent, as it would stand in JSON, where that is to be kept. */
export function auditBody(
  request: FastifyRequest,
  asked: Pick<ApiRequest, 'resource' | 'subresource'>,
  body: EncodedBody | undefined,
): void {
  const trail = trails.get(request);
  if (body === undefined || !trail?.keeps.request) return;
  try {
    trail.record('requestObject', readBody(asked, body));
  } catch (error) {
    // it is refused when its turn comes, and the client is told why
    if (!unreadable.some((type) => error instanceof type)) throw error;
  }
}

const unreadable = [DecodeError, JsonError, ProtobufError, YamlError];

function readBody(asked: Pick<ApiRequest, 'resource' | 'subresource'>, body: EncodedBody): unknown {
  const { encoding, bytes } = body;
  if (encoding === 'protobuf') {
    const type = bodyTypeOf(asked);
    return decodeObject(type, apiVersionOf(type, asked.resource.groupSuffix), body).object;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return encoding === 'yaml' ? body.read(text).value : parseJson(text).value;
}

/** A watch has begun, or another answer that may take long. */
export function auditStarted(request: FastifyRequest, code = 200): void {
  trails.get(request)?.started(code);
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json');
}

const unzip = promisify(gunzip);

/** Undefined for what is nothing whole: a stream. The answer is this server's own, and so can be read. */
async function readAnswer(reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (typeof payload === 'string') return parseJson(payload).value;
  if (!Buffer.isBuffer(payload)) return undefined;
  const isPacked = reply.getHeader('content-encoding') === 'gzip';
  const bytes = isPacked ? await unzip(payload) : payload;
  return parseJson(bytes.toString('utf8')).value;
}
