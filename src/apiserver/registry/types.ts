import type { ApiObject, BodyType, FeatureGates, Kind, Status } from '../../api/index.ts';
import type { QuotaLedger } from './quota/ledger.ts';
import type { Resource } from './resource.ts';
import type { WriteContext } from './strategy.ts';

/** Every served kind with its objects. */
export interface Registry {
  readonly groupSuffix: string;
  /** Which features are on. */
  readonly gates: FeatureGates;
  readonly resources: readonly Resource[];
  /** What the quotas are charged for; undefined where they are not served. */
  readonly ledger: QuotaLedger | undefined;
  /** The resource of a kind that is served. */
  of<T extends ApiObject>(kind: Kind<T>): Resource<T>;
  /** What answers a create of this body; undefined where the object is stored. */
  operation(body: BodyType): Operation | undefined;
}

/**
 * What answers a create that stores nothing of its own kind: a review, or a POST to a subresource such as
 * pods/binding. It may throw a StatusError.
 */
export interface Operation<B extends ApiObject = ApiObject> {
  /** What it takes; the kind itself for a virtual kind, `Subresource.body` for a subresource. */
  readonly body: BodyType<B>;
  /** Changes what was sent, before it is defaulted and validated; may throw a StatusError. */
  prepare?(request: OperationRequest<B>): B;
  run(request: OperationRequest<B>): Promise<OperationResult>;
}

export interface OperationRequest<B extends ApiObject = ApiObject> {
  registry: Registry;
  namespace: string;
  /** Of the object that the subresource belongs to; empty for a virtual kind. */
  name: string;
  /** Defaulted and validated. */
  body: B;
  context: WriteContext;
}

/** Answered with 201: an object of the body's type, or a Status. */
export type OperationResult = ({ object: ApiObject } | { status: Status }) & { warnings?: readonly string[] };
