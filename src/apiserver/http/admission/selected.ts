import type { FeatureGates } from '../../../api/index.ts';
import { parseFieldRequirements, parseLabelSelector, SelectorError } from '../../../api/index.ts';
import type { Attributes } from '../../authz/index.ts';

type Selectors = NonNullable<Extract<Attributes, { resource: string }>['selectors']>;

/** What selectors tell an authorizer of the objects that are asked for. */
export interface Selected {
  name: string;
  /** The node that the objects are to be on: agents may ask for their own. */
  nodeName?: string;
  /** Only where the server passes them on. */
  selectors?: Selectors;
}

const selectingVerbs: readonly string[] = ['list', 'watch', 'deletecollection'];
/** A deletion of a collection is never narrowed to a name, as the reference has it. */
const namingVerbs: readonly string[] = ['list', 'watch'];

/**
 * What the selectors in a query narrow a request for a collection to, so that a rule for one name allows to list and
 * watch that object (specification, section 5); undefined when they say nothing. What is not understood is left out:
 * that asks for more, and the request is refused for it later.
 */
export function selectedBy(
  verb: string,
  query: URLSearchParams,
  { AuthorizeWithSelectors }: Pick<FeatureGates, 'AuthorizeWithSelectors'>,
): Selected | undefined {
  if (!selectingVerbs.includes(verb)) return undefined;
  const fields = understood(query.get('fieldSelector'), parseFieldRequirements);
  const name = namingVerbs.includes(verb) ? nameIn(fields) : '';
  const nodeName = namingVerbs.includes(verb) ? equalTo('spec.nodeName', fields) : '';
  const narrowed = { name, ...(nodeName === '' ? {} : { nodeName }) };
  if (!AuthorizeWithSelectors) return name + nodeName === '' ? undefined : narrowed;
  const labels = understood(query.get('labelSelector'), (text) => parseLabelSelector(text).requirements);
  return fields.length + labels.length === 0 ? undefined : { ...narrowed, selectors: { fields, labels } };
}

function understood<R>(text: string | null, parse: (text: string) => readonly R[]): readonly R[] {
  if (!text) return [];
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) return [];
    throw error;
  }
}

/** Only what could be the last part of a path: no rule means another name. */
function nameIn(fields: Selectors['fields']): string {
  const name = equalTo('metadata.name', fields);
  return name === '.' || name === '..' || /[/%]/.test(name) ? '' : name;
}

function equalTo(wanted: string, fields: Selectors['fields']): string {
  return fields.find(({ field, operator }) => field === wanted && operator === '=')?.value ?? '';
}
