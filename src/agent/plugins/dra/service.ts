import { DRAPlugin as V1 } from './gen/v1_pb.js';
import { DRAPlugin as V1Beta1 } from './gen/v1beta1_pb.js';

/** The supported services, the preferred one first; both have the same methods and messages. */
const services = [
  ['v1.DRAPlugin', V1],
  ['v1beta1.DRAPlugin', V1Beta1],
] as const;

export type DraService = (typeof services)[number][1];

export interface ChosenService {
  /** As the driver names it. */
  readonly name: string;
  readonly service: DraService;
}

/**
 * Returns the preferred one of the services that a driver names; throws an Error when none is supported. Unknown ones are
 * ignored.
 */
export function chooseService(named: readonly string[]): ChosenService {
  const found = services.find(([name]) => named.includes(name));
  if (found !== undefined) return { name: found[0], service: found[1] };
  const list = named.map((name) => JSON.stringify(name)).join(', ') || 'none';
  const known = services.map(([name]) => JSON.stringify(name)).join(', ');
  throw new Error(`none of the services that the driver names is supported (${list}): ${known} are`);
}
