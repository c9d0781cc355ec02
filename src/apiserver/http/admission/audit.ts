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

/** Records of every request what the policy asks for. The response has the id of its audit events as `Audit-Id`. */
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
      trail.record('responseObject', await parseAnswer(reply, payload));
  });
}

/** Records who asked for what, and the decision. */
export function auditAsked(
  request: FastifyRequest,
  { user, impersonator, annotations = {} }: Identity,
  attributes: Attributes,
  decision: Decision,
): void {
  const trail = trails.get(request);
  if (trail === undefined) return;
  const impersonated = impersonator && user;
  trail.asked({ user: impersonator ?? user, impersonated, attributes, decision, annotations });
}

/** Records the body of the request as a JSON value, where the policy asks for it. */
export function auditBody(
  request: FastifyRequest,
  asked: Pick<ApiRequest, 'resource' | 'subresource'>,
  body: EncodedBody | undefined,
): void {
  const trail = trails.get(request);
  if (body === undefined || !trail?.keeps.request) return;
  try {
    trail.record('requestObject', decodeBody(asked, body));
  } catch (error) {
    // the handler refuses it later, with an error for the client
    if (!unreadable.some((type) => error instanceof type)) throw error;
  }
}

const unreadable = [DecodeError, JsonError, ProtobufError, YamlError];

function decodeBody(asked: Pick<ApiRequest, 'resource' | 'subresource'>, body: EncodedBody): unknown {
  const { encoding, bytes } = body;
  if (encoding === 'protobuf') {
    const type = bodyTypeOf(asked);
    return decodeObject(type, apiVersionOf(type, asked.resource.groupSuffix), body).object;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  return encoding === 'yaml' ? body.read(text).value : parseJson(text).value;
}

/** Records the start of a watch, or of another long-running response. */
export function auditStarted(request: FastifyRequest, code = 200): void {
  trails.get(request)?.started(code);
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json');
}

const gunzipAsync = promisify(gunzip);

/** Parses a response body of this server; undefined for a stream. */
async function parseAnswer(reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (typeof payload === 'string') return parseJson(payload).value;
  if (!Buffer.isBuffer(payload)) return undefined;
  const isGzipped = reply.getHeader('content-encoding') === 'gzip';
  const bytes = isGzipped ? await gunzipAsync(payload) : payload;
  return parseJson(bytes.toString('utf8')).value;
}
