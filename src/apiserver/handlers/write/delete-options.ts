import type { Cause, DeleteOptions, EncodedBody } from '../../../api/index.ts';
import {
  apiVersionOf,
  DecodeError,
  decodeObject,
  deleteOptionsBody,
  invalidValue,
  unsupportedValue,
} from '../../../api/index.ts';
import type { Deletion } from '../../registry/index.ts';
import { maxGraceSeconds, propagationPolicies, settleGrace } from '../../registry/index.ts';
import { refuseInvalid } from '../invalid-options.ts';
import { parseOptionalBoolean, parseSignedInteger } from '../parameters.ts';
import type { ApiRequest } from '../request.ts';
import { dryRunCauses } from './write-options.ts';

/** The options of a deletion. */
export interface DeletionRequest {
  deletion: Deletion;
  dryRun: boolean;
}

/**
 * Reads the options of a deletion from the body, or without a body from the parameters. Only `dryRun` counts in either
 * place: to ignore it would delete what was meant to stay. Throws 400 and 422.
 */
export function readDeletion(request: ApiRequest): DeletionRequest {
  const { query, body } = request;
  const options = body === undefined ? fromQuery(request) : fromBody(request, body);
  const dryRun = [...query.getAll('dryRun'), ...(options.dryRun ?? [])];
  refuseInvalid(request, 'DeleteOptions', [...causesOf(options), ...dryRunCauses(dryRun)]);
  return { deletion: deletionOf(options), dryRun: dryRun.length > 0 };
}

/** Accepts all versions of DeleteOptions that clients send; unknown fields are ignored. */
function fromBody({ resource }: ApiRequest, body: EncodedBody): DeleteOptions {
  const suffix = resource.groupSuffix;
  const versions = ['v1', apiVersionOf(deleteOptionsBody, suffix), apiVersionOf(resource.kind, suffix)];
  const failures: unknown[] = [];
  for (const version of versions) {
    try {
      return decodeObject(deleteOptionsBody, version, body).object;
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      failures.push(error);
    }
  }
  throw failures[0];
}

/** For a collection, `resourceVersion` selects the state of the list, and is no precondition for each object. */
function fromQuery({ query, verb }: ApiRequest): DeleteOptions {
  const uid = query.get('uid');
  const resourceVersion = verb === 'delete' ? query.get('resourceVersion') : null;
  return withoutUndefined({
    gracePeriodSeconds: parseSignedInteger(query, 'gracePeriodSeconds'),
    orphanDependents: parseOptionalBoolean(query, 'orphanDependents'),
    propagationPolicy: query.get('propagationPolicy') ?? undefined,
    preconditions: { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
  });
}

type Given<T> = { [K in keyof T]: T[K] | undefined };

function withoutUndefined(options: Given<DeleteOptions>): DeleteOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}

function causesOf({ gracePeriodSeconds = 0, orphanDependents, propagationPolicy }: DeleteOptions): Cause[] {
  const causes: Cause[] = [];
  if (gracePeriodSeconds > maxGraceSeconds) {
    const detail = `must not be more than ${maxGraceSeconds}`;
    causes.push(invalidValue('gracePeriodSeconds', gracePeriodSeconds, detail));
  }
  if (propagationPolicy === undefined) return causes;
  if (orphanDependents !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    causes.push(invalidValue('propagationPolicy', propagationPolicy, detail));
  }
  if (policyOf(propagationPolicy) === undefined) {
    causes.push(unsupportedValue('propagationPolicy', propagationPolicy, [...propagationPolicies, 'nil']));
  }
  return causes;
}

function policyOf(text: string | undefined) {
  return propagationPolicies.find((known) => known === text);
}

function deletionOf(options: DeleteOptions): Deletion {
  const { gracePeriodSeconds, orphanDependents, preconditions } = options;
  const orphan = orphanDependents === undefined ? undefined : orphanDependents ? 'Orphan' : 'Background';
  const propagationPolicy = policyOf(options.propagationPolicy) ?? orphan;
  return {
    ...preconditions,
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds: settleGrace(gracePeriodSeconds) }),
    ...(propagationPolicy === undefined ? {} : { propagationPolicy }),
  };
}
