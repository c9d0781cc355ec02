import type { ApiObject, BodyType, PartView } from '../../api/index.ts';
import { apiVersionOf, findMissingFields, invalid, withWritten } from '../../api/index.ts';
import type { Stored } from '../storage/index.ts';
import type { Answer, ApiRequest } from './request.ts';

/*
 * A subresource may show its object in a form of its own: what a client reads, replaces, patches and applies at
 * deployments/scale is a Scale. Here is the way between that form and the object.
 */

interface OwnForm extends PartView {
  body: BodyType;
}

type Asked = Pick<ApiRequest, 'resource' | 'subresource' | 'name'>;

/** The form that the path of a request shows its object in; undefined where that is the object itself. */
export function ownFormOf({ resource, subresource }: Asked): OwnForm | undefined {
  const part = resource.kind.subresources.find(({ name }) => name === subresource);
  return part?.view === undefined || part.body === undefined ? undefined : { ...part.view, body: part.body };
}

/** The answer with a stored object, in the form of the path. */
export function answerWith(
  request: Asked,
  stored: Stored,
  code: 200 | 201,
  warnings: readonly string[] = [],
): Answer {
  const { kind, encoding } = request.resource;
  const form = ownFormOf(request);
  if (form === undefined) return { form: 'object', code, type: kind, json: encoding.show(stored), warnings };
  const json = Buffer.from(JSON.stringify(render(request, form, encoding.read(stored))));
  return { form: 'object', code, type: form.body, json, warnings };
}

function render({ resource }: Asked, { body, show }: OwnForm, object: ApiObject): ApiObject {
  const apiVersion = apiVersionOf(body, resource.groupSuffix);
  return withWritten(body.root, { kind: body.kind, apiVersion, ...show(object) });
}

/** What a patch to this path is applied to. */
export function formatObject(request: Asked, object: ApiObject): ApiObject {
  const form = ownFormOf(request);
  return form === undefined ? object : render(request, form, object);
}

/** The object that a client wants who has sent `sent` to this path; throws 422 where that is invalid by itself. */
export function wantedObject(request: Asked, object: ApiObject, sent: ApiObject): ApiObject {
  const form = ownFormOf(request);
  if (form === undefined) return sent;
  const { body, merge } = form;
  const whole = body.default(sent);
  const causes = [...findMissingFields(body.root, whole), ...body.validate(whole, undefined)];
  if (causes.length > 0) throw invalid(body, request.resource.groupSuffix, request.name, causes);
  const { resourceVersion: _version, ...metadata } = object.metadata ?? {};
  const { resourceVersion, uid } = whole.metadata ?? {};
  return {
    ...merge(object, whole),
    metadata: {
      ...metadata,
      ...(resourceVersion ? { resourceVersion } : {}),
      ...(uid ? { uid } : {}),
    },
  };
}

/** A configuration that is applied to this path, as one of the object. */
export function wantedConfiguration(request: Asked, configuration: ApiObject): ApiObject {
  const { kind, groupSuffix } = request.resource;
  const form = ownFormOf(request);
  if (form === undefined) return configuration;
  const { metadata } = configuration;
  return {
    kind: kind.kind,
    apiVersion: apiVersionOf(kind, groupSuffix),
    ...(metadata === undefined ? {} : { metadata }),
    ...form.configure(configuration),
  };
}
