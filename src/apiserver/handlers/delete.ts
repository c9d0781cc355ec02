import { DecodeError, groupName, isRecord, parseJson, StatusError } from '../../api/index.ts';
import type { Preconditions } from '../registry/index.ts';
import { dryRunParameter } from './parameters.ts';
import type { Answer, ApiRequest } from './request.ts';

/** DELETE of an object: 200 when it is gone, 202 while something is left to finish (specification, 3.1 and 4.2). */
export async function remove(request: ApiRequest): Promise<Answer> {
  const { resource, namespace, name, query, user } = request;
  const options = readOptions(request.body);
  const dryRun = dryRunParameter(query, 'DeleteOptions') || options.dryRun;
  const { last, gone } = await resource.delete(namespace, name, options.preconditions, { user, dryRun });
  const group = groupName(resource.kind.group, resource.groupSuffix);
  const details = {
    name,
    ...(group === '' ? {} : { group }),
    kind: resource.kind.resource,
    ...(last.metadata?.uid === undefined ? {} : { uid: last.metadata.uid }),
  };
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details,
    code: gone ? 200 : 202,
  };
  return { form: 'status', code: gone ? 200 : 202, status, warnings: [] };
}

function readOptions(body: string): { preconditions: Preconditions; dryRun: boolean } {
  if (body === '') return { preconditions: {}, dryRun: false };
  const { value } = parseJson(body);
  if (!isRecord(value)) throw new DecodeError('DeleteOptions must be an object');
  if (value['kind'] !== undefined && value['kind'] !== 'DeleteOptions') {
    throw new DecodeError(`the body of a deletion is DeleteOptions, not ${JSON.stringify(value['kind'])}`);
  }
  const dryRun = new URLSearchParams();
  for (const entry of textList(value['dryRun'])) dryRun.append('dryRun', entry);
  return {
    preconditions: readPreconditions(value['preconditions']),
    dryRun: dryRunParameter(dryRun, 'DeleteOptions'),
  };
}

function textList(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value;
  throw new StatusError('BadRequest', 'dryRun must be a list of strings');
}

function readPreconditions(value: unknown): Preconditions {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw new StatusError('BadRequest', 'preconditions must be an object');
  return { ...textField(value, 'uid'), ...textField(value, 'resourceVersion') };
}

function textField(value: Record<string, unknown>, name: 'uid' | 'resourceVersion'): Preconditions {
  const given = value[name];
  if (given === undefined || given === null) return {};
  if (typeof given !== 'string')
    throw new StatusError('BadRequest', `preconditions.${name} must be a string`);
  return { [name]: given };
}
