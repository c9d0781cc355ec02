import type { Encoding, TableInclude } from '../../../api/index.ts';
import { groupName, StatusError } from '../../../api/index.ts';
import type { MediaRange } from './accept.ts';
import { covers, parseAccept } from './accept.ts';
import { mediaTypes } from './media-types.ts';

/** The form of an answer; there are no tables in protobuf. */
export type Form =
  | { as: 'object' | 'partial'; encoding: Encoding }
  | { as: 'table'; encoding: Exclude<Encoding, 'protobuf'>; include: TableInclude; version: TableVersion };

const tableVersions = ['v1', 'v1beta1'] as const;
type TableVersion = (typeof tableVersions)[number];

export interface Negotiated {
  form: Form;
  /** By the name that the client used. */
  mediaType: string;
  /** Whether the header asks for indented JSON, `pretty=1`. */
  pretty: boolean;
}

/** The kind of a successful answer. */
export type AnswerKind = 'object' | 'list' | 'status' | 'watch';

/** A form that the server can send: the media type, and the form by its name in the parameter `as`. */
interface Offer {
  mediaType: string;
  encoding: Encoding;
  as: '' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';
}

/**
 * The names of the forms of each kind of answer. A Status has only one form, and is sent in it whatever form is requested,
 * like every error. The events of a watch are objects.
 */
const forms: Readonly<Record<AnswerKind, readonly Offer['as'][]>> = {
  object: ['', 'Table', 'PartialObjectMetadata'],
  list: ['', 'Table', 'PartialObjectMetadataList'],
  status: ['', 'Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'],
  watch: ['', 'Table', 'PartialObjectMetadata'],
};

/**
 * Chooses the form of an answer (specification, section 4.5; RFC 9110, 12.5.1): of the served forms the one with the highest
 * quality, then the one that the header names more exactly, then the first. Throws 406 with the served types.
 */
export function negotiate(accept: string | undefined, answer: AnswerKind, groupSuffix: string): Negotiated {
  const offers = offersFor(answer);
  const best = findBest(offers, parseAccept(accept), (range) => readAskedForm(range, groupSuffix));
  if (best === undefined) throw notAcceptable(offers, groupSuffix);
  const { offer, range } = best;
  const form = answer === 'status' ? plainForm(offer) : formOf(offer, range);
  return { form, mediaType: offer.mediaType, pretty: range.parameters.get('pretty') === '1' };
}

/** The form of an error: in an encoding that the client accepts, whatever form it asked for; else in JSON. */
export function negotiateError(accept: string | undefined): Negotiated {
  const best = findBest(plainOffers, parseAccept(accept), () => '');
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

/** Tables have cells of any type, for which protobuf has no message; YAML documents cannot be streamed. */
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

function findBest(
  offers: readonly Offer[],
  ranges: readonly MediaRange[],
  asked: FormAsked,
): Rank | undefined {
  const ranks = offers.flatMap((offer) => rankOf(offer, ranges, asked) ?? []);
  return ranks.sort(compareRanks)[0];
}

/** The entry of the header that decides the quality of an offer: the most exact one that covers it. */
function rankOf(offer: Offer, ranges: readonly MediaRange[], asked: FormAsked): Rank | undefined {
  const ranks = ranges
    .map((range, place) => ({ offer, range, exactness: exactnessOf(range), place }))
    .filter(
      ({ range }) =>
        covers(range, offer.mediaType) && allowsStream(offer, range) && asked(range) === offer.as,
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

/** `stream=watch` is accepted for every encoding that can be streamed, also when the request is no watch. */
function allowsStream({ encoding }: Offer, { parameters }: MediaRange): boolean {
  const stream = parameters.get('stream') ?? '';
  return stream === '' || (stream === 'watch' && encoding !== 'yaml');
}

/** The form in the parameter `as`; undefined when its group or version is not served. */
function readAskedForm({ parameters }: MediaRange, groupSuffix: string): string | undefined {
  if (!['as', 'g', 'v'].some((name) => parameters.has(name))) return '';
  if (parameters.get('g') !== groupName('meta', groupSuffix)) return undefined;
  const as = parameters.get('as') || undefined;
  const versions: readonly (string | undefined)[] = as === 'Table' ? tableVersions : ['v1'];
  return versions.includes(parameters.get('v')) ? as : undefined;
}

function formOf(offer: Offer, { parameters }: MediaRange): Form {
  if (offer.as === '') return plainForm(offer);
  if (offer.as !== 'Table') return { as: 'partial', encoding: offer.encoding };
  const encoding = offer.encoding === 'yaml' ? 'yaml' : 'json';
  const version = parameters.get('v') === 'v1beta1' ? 'v1beta1' : 'v1';
  return { as: 'table', encoding, include: 'Metadata', version };
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

/** The form with the value of the `includeObject` parameter; throws 400 for an unknown value. */
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
