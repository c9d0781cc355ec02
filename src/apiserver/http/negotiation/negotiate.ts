import type { Encoding, TableInclude } from '../../../api/index.ts';
import { groupName, StatusError } from '../../../api/index.ts';
import type { MediaRange } from './accept.ts';
import { covers, parseAccept } from './accept.ts';
import { mediaTypes } from './media-types.ts';

/** The form in which a client wants its answer; there are no tables in protobuf. */
export type Form =
  | { as: 'object' | 'partial'; encoding: Encoding }
  | { as: 'table'; encoding: Exclude<Encoding, 'protobuf'>; include: TableInclude };

export interface Negotiated {
  form: Form;
  /** As the client called it. */
  mediaType: string;
  /** Whether the header asks for indented JSON, `pretty=1`. */
  pretty: boolean;
}

/** What a request is answered with, when all goes well. */
export type AnswerKind = 'object' | 'list' | 'status' | 'watch';

/** One way to answer: the media type and what the parameter `as` calls the form. */
interface Offer {
  mediaType: string;
  encoding: Encoding;
  as: '' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
}

/**
 * The names of the forms of each kind of answer. A Status has one form only, and who asks for another one gets it all
 * the same, as every error is answered; the parts of a collection that is watched are objects.
 */
const forms: Readonly<Record<AnswerKind, readonly Offer['as'][]>> = {
  object: ['', 'Table', 'PartialObjectMetadata'],
  list: ['', 'Table', 'PartialObjectMetadataList'],
  status: ['', 'Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'],
  watch: ['', 'Table', 'PartialObjectMetadata'],
};

/**
 * Chooses the form of an answer (specification, section 4.5; RFC 9110, 12.5.1): of what is served here that of the
 * highest quality, then what was named more exactly, then what was named first. Throws 406 with what is served.
 */
export function negotiate(accept: string | undefined, answer: AnswerKind, groupSuffix: string): Negotiated {
  const offers = offersFor(answer);
  const best = bestOf(offers, parseAccept(accept), (range) => askedForm(range, groupSuffix));
  if (best === undefined) throw notAcceptable(offers, groupSuffix);
  const { offer, range } = best;
  const form = answer === 'status' ? plainForm(offer) : formOf(offer);
  return { form, mediaType: offer.mediaType, pretty: range.parameters.get('pretty') === '1' };
}

/** How an error is told: in what the client takes of the encodings, whatever form it asked for; else in JSON. */
export function negotiateError(accept: string | undefined): Negotiated {
  const best = bestOf(plainOffers, parseAccept(accept), () => '');
  const { offer = jsonOffer, range } = best ?? {};
  const pretty = range?.parameters.get('pretty') === '1';
  return { form: plainForm(offer), mediaType: offer.mediaType, pretty };
}

const jsonOffer: Offer = { mediaType: 'application/json', encoding: 'json', as: '' };
const plainOffers = offersFor('status').filter(({ as }) => as === '');

function offersFor(answer: AnswerKind): Offer[] {
  return [...mediaTypes].flatMap(([mediaType, encoding]) =>
    forms[answer]
      .filter((as) => isServed(answer, encoding, as))
      .map((as): Offer => ({ mediaType, encoding, as })),
  );
}

/** A table has cells of any type, for which there is no message; documents of YAML make no stream. */
function isServed(answer: AnswerKind, encoding: Encoding, as: Offer['as']): boolean {
  if (answer === 'watch' && encoding === 'yaml') return false;
  return answer === 'status' || as !== 'Table' || encoding !== 'protobuf';
}

interface Rank {
  offer: Offer;
  range: MediaRange;
  exactness: number;
  place: number;
}

type FormAsked = (range: MediaRange) => string | undefined;

function bestOf(offers: readonly Offer[], ranges: readonly MediaRange[], asked: FormAsked): Rank | undefined {
  const ranks = offers.flatMap((offer) => rankOf(offer, ranges, asked) ?? []);
  return ranks.sort(compareRanks)[0];
}

/** The entry that says how much an offer is liked: the most exact that covers it. */
function rankOf(offer: Offer, ranges: readonly MediaRange[], asked: FormAsked): Rank | undefined {
  const ranks = ranges
    .map((range, place) => ({ offer, range, exactness: exactnessOf(range), place }))
    .filter(
      ({ range }) => covers(range, offer.mediaType) && streams(offer, range) && asked(range) === offer.as,
    );
  const [decisive] = ranks.sort((one, other) => other.exactness - one.exactness || compareRanks(one, other));
  return decisive === undefined || decisive.range.quality === 0 ? undefined : decisive;
}

function compareRanks(one: Rank, other: Rank): number {
  return (
    other.range.quality - one.range.quality || other.exactness - one.exactness || one.place - other.place
  );
}

function exactnessOf({ type, parameters }: MediaRange): number {
  if (type === '*/*') return 0;
  if (type.endsWith('/*')) return 1;
  return 2 + parameters.size - (parameters.has('q') ? 1 : 0);
}

/** `stream=watch` is said of what has a stream, also when no watch is asked for. */
function streams({ encoding }: Offer, { parameters }: MediaRange): boolean {
  const stream = parameters.get('stream') ?? '';
  return stream === '' || (stream === 'watch' && encoding !== 'yaml');
}

/** What `as` asks for; undefined when it is of a group or version that is not served. */
function askedForm({ parameters }: MediaRange, groupSuffix: string): string | undefined {
  if (!['as', 'g', 'v'].some((name) => parameters.has(name))) return '';
  const served = parameters.get('v') === 'v1' && parameters.get('g') === groupName('meta', groupSuffix);
  return served ? parameters.get('as') || undefined : undefined;
}

function formOf(offer: Offer): Form {
  if (offer.as === '') return plainForm(offer);
  if (offer.as !== 'Table') return { as: 'partial', encoding: offer.encoding };
  return { as: 'table', encoding: offer.encoding === 'yaml' ? 'yaml' : 'json', include: 'Metadata' };
}

function plainForm({ encoding }: Offer): Form {
  return { as: 'object', encoding };
}

function notAcceptable(offers: readonly Offer[], groupSuffix: string): StatusError {
  const group = groupName('meta', groupSuffix);
  const served = offers.map(({ mediaType, as }) =>
    as === '' ? mediaType : `${mediaType};as=${as};g=${group};v=v1`,
  );
  return new StatusError(
    'NotAcceptable',
    `only the following media types are served here: ${served.join(', ')}`,
  );
}

const includes: readonly TableInclude[] = ['None', 'Metadata', 'Object'];

/** The form with what the `includeObject` parameter says; throws 400 when it says something else. */
export function withInclude(form: Form, query: URLSearchParams): Form {
  const wanted = query.get('includeObject');
  if (form.as !== 'table' || !wanted) return form;
  const include = includes.find((known) => known === wanted);
  if (include !== undefined) return { ...form, include };
  throw new StatusError(
    'BadRequest',
    `includeObject must be one of ${includes.join(', ')}, not ${JSON.stringify(wanted)}`,
  );
}
