import type { FeatureGates } from '../../../api/index.ts';
import { parseFieldRequirements, parseLabelSelector, SelectorError } from '../../../api/index.ts';
import type { Attributes } from '../../authz/index.ts';

type Selectors = NonNullable<Extract<Attributes, { resource: string }>['selectors']>;

/** How selectors narrow a request, as authorizers take it. */
export interface Narrowing {
  name: string;
  /** The node that the objects must be on: agents may list what is on their own, and delete their own ResourceSlices. */
  nodeName?: string;
  /** Only where the server passes them on. */
  selectors?: Selectors;
}

const selectingVerbs: readonly string[] = ['list', 'watch', 'deletecollection'];
/** As in the reference, the deletion of a collection is never narrowed to a name. */
const namingVerbs: readonly string[] = ['list', 'watch'];

/**
 * Returns how the selectors in a query narrow a request for a collection, so that a rule for one name allows to list and
 * watch that object (specification, section 5); undefined when there are none. A selector that cannot be parsed is ignored:
 * authorization then requires more, and the request is refused later.
 */
export function narrowBySelectors(
  verb: string,
  query: URLSearchParams,
  { AuthorizeWithSelectors }: Pick<FeatureGates, 'AuthorizeWithSelectors'>,
): Narrowing | undefined {
  if (!selectingVerbs.includes(verb)) return undefined;
  const fields = parseOrIgnore(query.get('fieldSelector'), parseFieldRequirements);
  const name = namingVerbs.includes(verb) ? findName(fields) : '';
  const nodeName = findEqualValue('spec.nodeName', fields);
  const narrowed = { name, ...(nodeName === '' ? {} : { nodeName }) };
  if (!AuthorizeWithSelectors) return name + nodeName === '' ? undefined : narrowed;
  const labels = parseOrIgnore(query.get('labelSelector'), (text) => parseLabelSelector(text).requirements);
  return fields.length + labels.length === 0 ? undefined : { ...narrowed, selectors: { fields, labels } };
}

function parseOrIgnore<R>(text: string | null, parse: (text: string) => readonly R[]): readonly R[] {
  if (!text) return [];
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

/** Ignores names that could not be the last part of a path: no rule can name them. */
function findName(fields: Selectors['fields']): string {
  const name = findEqualValue('metadata.name', fields);
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

function findEqualValue(wanted: string, fields: Selectors['fields']): string {
  return fields.find(({ field, operator }) => field === wanted && operator === '=')?.value ?? '';
}
