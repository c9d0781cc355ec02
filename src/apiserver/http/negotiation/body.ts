import type { FastifyRequest } from 'fastify';
import type { EncodedBody, Encoding } from '../../../api/index.ts';
import { loadYamlReader, StatusError } from '../../../api/index.ts';
import { mediaTypes } from './media-types.ts';

/** The body of a request with its encoding; throws 415 for an encoding that is not supported. */
export function bodyOf({
  body: bytes,
  headers,
}: FastifyRequest): EncodedBody | undefined | Promise<EncodedBody> {
  if (!Buffer.isBuffer(bytes) || bytes.length === 0) return undefined;
  refuseCompressed(headers['content-encoding']);
  const encoding = encodingOf(headers['content-type']);
  if (encoding !== 'yaml') return { encoding, bytes };
  return loadYamlReader().then((read) => ({ encoding, bytes, read }));
}

/** The encoding of a body; JSON without a content type. */
export function encodingOf(contentType: string | undefined): Encoding {
  const plain = mediaTypes.get(contentType ?? '');
  if (plain !== undefined) return plain;
  const type = mediaTypeOf(contentType);
  const encoding = type === '' ? 'json' : mediaTypes.get(type ?? '');
  if (encoding !== undefined) return encoding;
  throw unknownFormat([...mediaTypes.keys()]);
}

/** The media type in lower case, empty without a content type; undefined for a charset other than UTF-8. */
export function mediaTypeOf(contentType: string | undefined): string | undefined {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  return parameters.every(isUtf8) ? type : undefined;
}

/** Only UTF-8 is supported; other parameters are ignored. */
function isUtf8(parameter: string): boolean {
  const charset = /^charset="?([^"]*)"?$/.exec(parameter)?.[1];
  return charset === undefined || ['utf-8', 'utf8', 'us-ascii'].includes(charset);
}

/** Throws 415 for a compressed body: the limit bounds the bytes that are sent, not what they would unpack to. */
export function refuseCompressed(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || ['', 'identity'].includes(contentEncoding.trim().toLowerCase()))
    return;
  throw new StatusError(
    'UnsupportedMediaType',
    'the body of the request is compressed: send it without content-encoding',
  );
}

export function unknownFormat(accepted: readonly string[]): StatusError {
  return new StatusError(
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}
