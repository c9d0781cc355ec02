import { isRecord } from '../../../api/index.ts';
import type { StateRecord } from '../../../base/state-file/index.ts';

/** A device that a driver has prepared. */
export interface ClaimDevice {
  /** The requests of the claim that it is for; none: all of them. */
  readonly requests: readonly string[];
  readonly cdiDeviceIds: readonly string[];
}

/** What this node holds of one ResourceClaim. */
export interface ClaimRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly drivers: readonly string[];
  /** The uids of the pods that use it here. */
  readonly pods: readonly string[];
  /** Undefined until every driver has prepared it; a driver may have done its part all the same. */
  readonly devices: readonly ClaimDevice[] | undefined;
}

export interface ClaimRecords {
  readonly claims: readonly ClaimRecord[];
}

/** Throws an Error for what was not written by this program. */
export function parseRecords({ claims }: StateRecord): ClaimRecords {
  if (!Array.isArray(claims)) throw new Error('claims is no list');
  return { claims: claims.map(parseRecord) };
}

function parseRecord(value: unknown): ClaimRecord {
  if (!isRecord(value)) throw new Error('a claim is no object');
  const text = (name: string): string => {
    const found = value[name];
    if (typeof found === 'string' && found !== '') return found;
    throw new Error(`a claim has no ${name}`);
  };
  const { devices } = value;
  return {
    ...{ namespace: text('namespace'), name: text('name'), uid: text('uid') },
    ...{ drivers: parseTexts(value['drivers']), pods: parseTexts(value['pods']) },
    devices: devices === undefined ? undefined : parseDevices(devices),
  };
}

function parseDevices(value: unknown): ClaimDevice[] {
  if (!Array.isArray(value)) throw new Error('devices is no list');
  return value.map((each: unknown) => {
    if (!isRecord(each)) throw new Error('a device is no object');
    return { requests: parseTexts(each['requests']), cdiDeviceIds: parseTexts(each['cdiDeviceIds']) };
  });
}

function parseTexts(value: unknown): string[] {
  if (Array.isArray(value) && value.every((each): each is string => typeof each === 'string')) return value;
  throw new Error('a list of texts is something else');
}
