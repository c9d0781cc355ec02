import type { FastifyReply, FastifyRequest } from 'fastify';
import type { YamlReader } from '../../../api/index.ts';
import { JsonError, loadYamlReader, parseJson, StatusError } from '../../../api/index.ts';
import type { PatchBody, PatchFormat } from '../../handlers/index.ts';
import { mediaTypeOf, refuseCompressed, unknownFormat } from './body.ts';

/** The patch format of each media type (specification, section 4.10). */
export const patchTypes: ReadonlyMap<string, PatchFormat> = new Map([
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
]);

/** The patch format of a request. Throws 415, and then sets the `Accept-Patch` header (RFC 5789, 3.1). */
export function patchFormatOf({ headers }: FastifyRequest, reply: FastifyReply): PatchFormat {
  const format = patchTypes.get(mediaTypeOf(headers['content-type']) ?? '');
  if (format !== undefined) return format;
  const accepted = [...patchTypes.keys()];
  reply.header('accept-patch', accepted.join(', '));
  throw unknownFormat(accepted);
}

/** The body of a PATCH. Throws 400 when it is empty, and 415. */
export async function patchOf(request: FastifyRequest, reply: FastifyReply): Promise<PatchBody> {
  const format = patchFormatOf(request, reply);
  const { body: bytes, headers } = request;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) {
    throw new StatusError('BadRequest', 'the body is empty: send a patch');
  }
  refuseCompressed(headers['content-encoding']);
  if (format !== 'apply') return { format, body: { encoding: 'json', bytes } };
  return { format, body: { encoding: 'yaml', bytes, read: createJsonReader(await loadYamlReader()) } };
}

/** Reads JSON as JSON, at a tenth of the cost: most clients send JSON where YAML is expected. */
function createJsonReader(readYaml: YamlReader): YamlReader {
  return (text) => {
    if (!/^\s*\{/.test(text)) return readYaml(text);
    try {
      return parseJson(text);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      return readYaml(text);
    }
  };
}
