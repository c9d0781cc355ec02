import type { ApiObject, EncodedBody } from '../../../api/index.ts';
import { apiVersionOf, decodeConfiguration, StatusError } from '../../../api/index.ts';
import { answerWith, wantedConfiguration } from '../own-form.ts';
import type { Answer, ApiRequest } from '../request.ts';
import { bodyTypeOf } from '../request.ts';
import type { PatchOptions } from './patch-options.ts';
import { readPatchOptions } from './patch-options.ts';
import { settleNamespace, withoutZeroVersion } from './write-body.ts';

/** PATCH with an apply configuration: server-side apply (specification, section 4.10): 200, or 201 where it creates. */
export async function apply(request: ApiRequest, body: EncodedBody): Promise<Answer> {
  const { resource, namespace, name, subresource, user } = request;
  const options = readPatchOptions(request);
  const { configuration, warnings } = readConfiguration(request, body, options);
  const { dryRun, manager, force } = options;
  const warn = (text: string) => void warnings.push(text);
  const { stored, created } = await resource.apply(
    { namespace, name },
    { configuration: wantedConfiguration(request, configuration), subresource, force },
    { user, dryRun, manager, warn },
    () => request.authorize('create'),
  );
  return answerWith(request, stored, created ? 201 : 200, warnings);
}

interface Configuration {
  configuration: ApiObject;
  warnings: string[];
}

function readConfiguration(
  request: ApiRequest,
  body: EncodedBody,
  { fieldValidation }: PatchOptions,
): Configuration {
  const { resource, name } = request;
  const type = bodyTypeOf(request);
  const apiVersion = apiVersionOf(type, resource.groupSuffix);
  const { object, complaints } = decodeConfiguration(type, apiVersion, body);
  if (fieldValidation === 'Strict' && complaints.length > 0) {
    throw new StatusError('BadRequest', `strict decoding error: ${complaints.join(', ')}`);
  }
  if (object.metadata?.managedFields)
    throw new StatusError('BadRequest', 'metadata.managedFields must be nil');
  const settled = settleNamespace(request, withoutZeroVersion(withoutEmptyMetadata(object)));
  const warnings = fieldValidation === 'Warn' ? complaints : [];
  request.complain?.([...warnings]);
  return { configuration: withName(settled, name), warnings };
}

/** Removes metadata that clients leave to the server: `creationTimestamp: null`, an empty resourceVersion. */
function withoutEmptyMetadata(object: ApiObject): ApiObject {
  const said = Object.entries(object.metadata ?? {}).filter(([, value]) => value !== null && value !== '');
  return { ...object, metadata: Object.fromEntries(said) };
}

/** Adds the name in the path, which a configuration may leave out. */
function withName(object: ApiObject, name: string): ApiObject {
  const given = object.metadata?.name || name;
  if (given === name) return { ...object, metadata: { ...object.metadata, name } };
  const message = `the name of the object (${given}) does not match the name on the URL (${name})`;
  throw new StatusError('BadRequest', message);
}
