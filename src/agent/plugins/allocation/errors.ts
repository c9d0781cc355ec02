import { ReasonError } from '../../../base/index.ts';
/**
 * `unknown`: no plugin offers the resource. `away`: its plugin is not connected. `unavailable`: too few devices are free
 * and healthy. `unhealthy`: a device that the container holds, or was to get, is not healthy any more. `changed`: the
 * container holds another number. `refused`: the plugin refused or failed. `answer`: the plugin's response is unusable.
 * `unwritable`: the state file cannot be written. `released`: the pod was released meanwhile. `invalid`: a wrong request.
 */
export type AllocationFailure =
  | 'unknown'
  | 'away'
  | 'unavailable'
  | 'unhealthy'
  | 'changed'
  | 'refused'
  | 'answer'
  | 'unwritable'
  | 'released'
  | 'invalid';

/** Why a container does not get devices; it has been given none. */
export class AllocationError extends ReasonError<AllocationFailure> {
  override readonly name = 'AllocationError';
}
