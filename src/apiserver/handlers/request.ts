import type { BodyType, EncodedBody, ListMeta, ObjectType, Status, TextBody, Verb } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { User } from '../authn/index.ts';
import type { Registry, Resource } from '../registry/index.ts';
import type { Stored } from '../storage/index.ts';
import type { ContinueTokens } from './read/continue-token.ts';

/** The format of a patch (specification, section 4.10); `apply` is a server-side apply. */
export type PatchFormat = 'json' | 'merge' | 'strategic' | 'apply';

export interface PatchBody {
  format: PatchFormat;
  body: TextBody;
}

/** A parsed request for objects of a kind. */
export interface ApiRequest {
  verb: Verb;
  registry: Registry;
  resource: Resource;
  /** Empty for cluster-scoped kinds and for lists across namespaces. */
  namespace: string;
  /** Empty for collections. */
  name: string;
  /** Empty for the object itself. */
  subresource: string;
  query: URLSearchParams;
  /** Undefined when there is none, and for a PATCH. */
  body: EncodedBody | undefined;
  /** The body of a PATCH; unset for every other verb. */
  patch?: PatchBody;
  /** The User-Agent header as it was sent. */
  userAgent?: string;
  user: User;
  /** For lists in chunks. */
  continueTokens: ContinueTokens;
  /** Measures how long the request may wait for a version. */
  clock: Clock;
  /** Throws 403 unless the caller may also do this with the same object. */
  authorize(verb: Verb): Promise<void>;
  /** Takes what the client is warned of in its body although the write may be refused; the last call counts. */
  complain?(complaints: readonly string[]): void;
  /** Creates a signal that aborts when the client is gone or the server stops; a heartbeat never needs one. */
  signal(): AbortSignal;
}

/** The answer of a verb. Its objects are JSON and are sent in the form that the client asked for. */
export type Answer =
  | { form: 'object'; code: 200 | 201 | 202; type: ObjectType; json: Uint8Array; warnings: readonly string[] }
  | { form: 'list'; code: 200; items: readonly Stored[]; metadata: ListMeta; warnings?: readonly string[] }
  | { form: 'status'; code: 200 | 201 | 202; status: Status; warnings: readonly string[] };

/** The type of the body of a write to this path. */
export function bodyTypeOf({
  resource,
  subresource,
}: Pick<ApiRequest, 'resource' | 'subresource'>): BodyType {
  const part = resource.kind.subresources.find(({ name }) => name === subresource);
  return part?.body ?? resource.kind;
}
