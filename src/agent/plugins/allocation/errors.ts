import { ReasonError } from '../../../base/index.ts';
/**
 * `unknown`: no plugin offers the resource. `away`: its plugin does not answer. `unavailable`: too few devices are free
 * and healthy. `unhealthy`: a device that the container holds, or was to get, is not healthy any more. `changed`: the
 * container held another number before. `refused`: the plugin said no, or failed. `answer`: what it answered cannot be
 * used. `unwritable`: the state file cannot be written. `released`: the pod went meanwhile. `invalid`: asked wrongly.
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

/** Why a container does not get devices; nothing has been given. */
export class AllocationError extends ReasonError<AllocationFailure> {
  override readonly name = 'AllocationError';
}
