import type { ApiObject, FieldSelector, Kind, LabelSelector } from '../../../api/index.ts';
import {
  apiVersionOf,
  parseFieldSelector,
  parseLabelSelector,
  SelectorError,
  StatusError,
} from '../../../api/index.ts';
import type { ApiRequest } from '../request.ts';

/** Which objects of a collection are selected. */
export interface Selectors {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector<ApiObject>;
  /** Whether only labels decide. */
  readonly isByLabels: boolean;
  /** The only value that a field of selected objects can have, when the selectors demand one. */
  exact(field: string): string | undefined;
}

/** The selectors of a request; undefined when all objects are selected. Throws 400. */
export function readSelectors({ query, resource }: ApiRequest): Selectors | undefined {
  const { labels, fields } = readTexts(query);
  return labels === '' && fields === '' ? undefined : parse(resource.kind, labels, fields);
}

/** A text that identifies the list of a request among all lists. */
export function listName({ resource, namespace, query }: ApiRequest): string {
  const { kind, groupSuffix } = resource;
  const { labels, fields } = readTexts(query);
  return JSON.stringify([apiVersionOf(kind, groupSuffix), kind.resource, namespace, labels, fields]);
}

function readTexts(query: URLSearchParams): { labels: string; fields: string } {
  return { labels: query.get('labelSelector') ?? '', fields: query.get('fieldSelector') ?? '' };
}

function parse(kind: Kind, labels: string, fields: string): Selectors {
  try {
    const byFields = parseFieldSelector(kind, fields);
    return {
      labels: parseLabelSelector(labels),
      fields: byFields,
      isByLabels: byFields.requirements.length === 0,
      exact: (field) => byFields.exact(field),
    };
  } catch (error) {
    if (error instanceof SelectorError) throw new StatusError('BadRequest', error.message, { cause: error });
    throw error;
  }
}
