import type { FastifyReply } from 'fastify';
import type { ListMeta } from '../../api/index.ts';
import { apiVersionOf, toTable } from '../../api/index.ts';
import type { Answer } from '../handlers/index.ts';
import type { Resource } from '../registry/index.ts';
import type { Form } from './negotiate.ts';

export interface AnswerOptions {
  resource: Resource;
  form: Form;
  /** Indent for people (`pretty`). */
  pretty: boolean;
  now: number;
}

/** Sends what a verb answered, in the form that was asked for. */
export function sendAnswer(reply: FastifyReply, answer: Answer, options: AnswerOptions): FastifyReply {
  if (answer.form !== 'list') addWarnings(reply, answer.warnings);
  const body = bodyOf(answer, options);
  return sendJson(reply, answer.code, options.pretty ? pretty(body) : body);
}

/** Sends JSON that nobody on the way may keep. */
export function sendJson(reply: FastifyReply, code: number, body: Buffer): FastifyReply {
  return reply
    .code(code)
    .header('content-type', 'application/json')
    .header('cache-control', 'no-cache, private')
    .send(body);
}

/** `pretty`: what is no truth is no wish, as the reference has it. */
export function isPretty(query: URLSearchParams): boolean {
  return ['', '1', 't', 'true'].includes(query.get('pretty')?.toLowerCase() ?? 'false');
}

const warningsLimitCharacters = 4096;
const shortenedCharacters = 256;

/**
 * `Warning: 299 - "text"` (RFC 9111, 5.5), each once. When they are long each is cut, and what does not fit even
 * then is left out: clients bear only so many headers.
 */
function addWarnings(reply: FastifyReply, warnings: readonly string[]): void {
  const texts = [...new Set(warnings)];
  const isLong = lengthOf(texts) > warningsLimitCharacters;
  const shown: string[] = [];
  for (const text of texts) {
    shown.push(isLong ? text.slice(0, shortenedCharacters) : text);
    if (lengthOf(shown) >= warningsLimitCharacters) break;
  }
  if (shown.length > 0) reply.header('warning', shown.map(warningValue));
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

function warningValue(text: string): string {
  const quoted = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replace(/[^\x20-\x7e]/g, '?');
  return `299 - "${quoted}"`;
}

function bodyOf(answer: Answer, options: AnswerOptions): Buffer {
  if (answer.form === 'status') return Buffer.from(JSON.stringify(answer.status));
  if (answer.form === 'object') {
    return options.form.as === 'table' ? tableOf([answer.json], {}, options) : Buffer.from(answer.json);
  }
  const metadata = { resourceVersion: answer.resourceVersion };
  return options.form.as === 'table'
    ? tableOf(answer.items, metadata, options)
    : listOf(answer.items, metadata, options);
}

/** A list, stitched from the bytes of its items. */
function listOf(items: readonly Uint8Array[], metadata: ListMeta, { resource }: AnswerOptions): Buffer {
  const head = JSON.stringify({
    kind: `${resource.kind.kind}List`,
    apiVersion: apiVersionOf(resource.kind, resource.groupSuffix),
    metadata,
  });
  const comma = Buffer.from(',');
  const parts: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)];
  for (const [index, item] of items.entries()) {
    if (index > 0) parts.push(comma);
    parts.push(item);
  }
  parts.push(Buffer.from(']}'));
  return Buffer.concat(parts);
}

function tableOf(items: readonly Uint8Array[], metadata: ListMeta, options: AnswerOptions): Buffer {
  const { resource, form, now } = options;
  const include = form.as === 'table' ? form.include : 'Metadata';
  const objects = items.map((bytes) => resource.encoding.parse(bytes));
  const meta =
    items.length === 1 && metadata.resourceVersion === undefined ? versionOf(objects[0]) : metadata;
  const settings = { groupSuffix: resource.groupSuffix, include, now, headers: true };
  return Buffer.from(JSON.stringify(toTable(resource.kind, objects, meta, settings)));
}

function versionOf(object: { metadata?: { resourceVersion?: string } } | undefined): ListMeta {
  const resourceVersion = object?.metadata?.resourceVersion;
  return resourceVersion === undefined ? {} : { resourceVersion };
}

function pretty(body: Buffer): Buffer {
  return Buffer.from(`${JSON.stringify(JSON.parse(body.toString('utf8')), undefined, 2)}\n`);
}
