import type { TableInclude } from '../../api/index.ts';
import { groupName, StatusError } from '../../api/index.ts';

/** The form in which a client wants its answer. */
export type Form = { as: 'json' } | { as: 'table'; include: TableInclude };

const json: Form = { as: 'json' };

interface Wanted {
  type: string;
  parameters: Map<string, string>;
  quality: number;
}

/**
 * Chooses the form from an Accept header: the first of the best quality that is served here (specification, section
 * 4.5; RFC 9110, 12.5.1). Throws 406 with what is served.
 */
export function negotiate(accept: string | undefined, groupSuffix: string, tables: boolean): Form {
  if (accept === undefined || accept.trim() === '') return json;
  const wanted = accept
    .split(',', 32)
    .map(parseRange)
    .sort((a, b) => b.quality - a.quality);
  for (const range of wanted) {
    if (range.quality === 0) continue;
    const form = formOf(range, groupSuffix, tables);
    if (form !== undefined) return form;
  }
  const served = `application/json${tables ? `, application/json;as=Table;g=${groupName('meta', groupSuffix)};v=v1` : ''}`;
  throw new StatusError('NotAcceptable', `only the following media types are served here: ${served}`);
}

function formOf(range: Wanted, groupSuffix: string, tables: boolean): Form | undefined {
  if (!['application/json', 'application/*', '*/*'].includes(range.type)) return undefined;
  const as = range.parameters.get('as');
  if (as === undefined) return json;
  const known =
    tables &&
    as === 'Table' &&
    range.parameters.get('v') === 'v1' &&
    range.parameters.get('g') === groupName('meta', groupSuffix);
  return known ? { as: 'table', include: 'Metadata' } : undefined;
}

function parseRange(text: string): Wanted {
  const [type = '', ...rest] = text.split(';').map((part) => part.trim());
  const parameters = new Map(rest.map((part) => splitOnce(part.toString())));
  const quality = Number(parameters.get('q') ?? 1);
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 1 };
}

function splitOnce(text: string): [string, string] {
  const at = text.indexOf('=');
  return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

const includes: readonly TableInclude[] = ['None', 'Metadata', 'Object'];

/** The form with what the `includeObject` parameter says; throws 400 when it says something else. */
export function withInclude(form: Form, query: URLSearchParams): Form {
  const wanted = query.get('includeObject');
  if (form.as !== 'table' || !wanted) return form;
  const include = includes.find((known) => known === wanted);
  if (include !== undefined) return { as: 'table', include };
  throw new StatusError(
    'BadRequest',
    `includeObject must be one of ${includes.join(', ')}, not ${JSON.stringify(wanted)}`,
  );
}

const jsonTypes = ['application/json', ''];

/** Throws 415 when a body is not JSON. */
export function checkContentType(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (jsonTypes.includes(type)) return;
  throw unknownFormat();
}

export function unknownFormat(): StatusError {
  return new StatusError(
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: application/json',
  );
}
