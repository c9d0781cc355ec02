import { ReasonError } from '../../../../base/index.ts';
import { GrpcError, grpcCodes } from './grpc-error.ts';

/**
 * Why a call of etcd failed:
 * - `away`: certainly not done: there is no connection, no leader, or too much to do. May be tried elsewhere.
 * - `unknown`: may or may not have been done.
 * - `compacted`, `future`: the revision is no longer, or not yet, to be read.
 * - `full`: etcd's database has reached its quota.
 * - `tooLarge`: the request is longer than etcd takes.
 * - `tooLong`: the answer is longer than this program takes.
 * - `denied`: etcd does not accept who this program is, or not for this.
 * - `failed`: anything else that etcd refuses; certainly not done.
 */
export type EtcdFailure =
  | 'away'
  | 'unknown'
  | 'compacted'
  | 'future'
  | 'full'
  | 'tooLarge'
  | 'tooLong'
  | 'denied'
  | 'failed';

/** The one error of the client; branch on `reason`, show `message`. It never holds a credential. */
export class EtcdError extends ReasonError<EtcdFailure> {
  override readonly name = 'EtcdError';
}

/** etcd tells its errors apart by their text alone (api/v3rpc/rpctypes). */
const byText: ReadonlyMap<string, EtcdFailure> = new Map([
  ['etcdserver: mvcc: required revision has been compacted', 'compacted'],
  ['etcdserver: mvcc: required revision is a future revision', 'future'],
  ['etcdserver: mvcc: database space exceeded', 'full'],
  ['etcdserver: request is too large', 'tooLarge'],
  ['etcdserver: no leader', 'away'],
  ['etcdserver: too many requests', 'away'],
  ['etcdserver: rpc not supported for learner', 'away'],
  ['etcdserver: not capable', 'away'],
]);

/** Of an error without a text of etcd's. Whatever is not here has certainly been refused. */
const byCode: ReadonlyMap<number, EtcdFailure> = new Map([
  [grpcCodes.UNAVAILABLE, 'unknown'],
  [grpcCodes.DEADLINE_EXCEEDED, 'unknown'],
  [grpcCodes.CANCELLED, 'unknown'],
  [grpcCodes.INTERNAL, 'unknown'],
  [grpcCodes.UNKNOWN, 'unknown'],
  [grpcCodes.ABORTED, 'unknown'],
  [grpcCodes.DATA_LOSS, 'unknown'],
  [grpcCodes.RESOURCE_EXHAUSTED, 'tooLong'],
  [grpcCodes.UNAUTHENTICATED, 'denied'],
  [grpcCodes.PERMISSION_DENIED, 'denied'],
]);

/** Converts the error of a failed call. */
export function toEtcdError(error: unknown, endpoint: string): EtcdError {
  if (error instanceof EtcdError) return error;
  if (!(error instanceof GrpcError)) {
    return new EtcdError('unknown', `etcd at ${endpoint}: ${String(error)}`, { cause: error });
  }
  const reason = byText.get(error.message) ?? byCode.get(error.code) ?? 'failed';
  return new EtcdError(reason, `etcd at ${endpoint}: ${error.message}`, { cause: error });
}
