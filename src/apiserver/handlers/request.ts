import type { Verb } from '../../api/index.ts';
import type { User } from '../authn/index.ts';
import type { Resource } from '../registry/index.ts';

/** A request for a kind's objects, with all that HTTP said taken apart. */
export interface ApiRequest {
  verb: Verb;
  resource: Resource;
  /** Empty for cluster-scoped kinds and for lists across namespaces. */
  namespace: string;
  /** Empty for collections. */
  name: string;
  /** Empty for the object itself. */
  subresource: string;
  query: URLSearchParams;
  /** The body as text; empty when there is none. */
  body: string;
  user: User;
  /** Aborts when the client is gone or the server stops. */
  signal: AbortSignal;
}

/** What a verb answers: the objects are shown in the form that the client asked for. */
export type Answer =
  | { form: 'object'; code: 200 | 201 | 202; json: Uint8Array; warnings: readonly string[] }
  | { form: 'list'; code: 200; items: readonly Uint8Array[]; resourceVersion: string }
  | { form: 'status'; code: 200 | 202; status: object; warnings: readonly string[] };
