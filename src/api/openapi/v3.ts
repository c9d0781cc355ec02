import type { Kind } from '../kinds/index.ts';
import { Components } from './components.ts';
import type { Served } from './objects.ts';
import { addKind } from './objects.ts';
import type { Operation, PathDescription } from './operations.ts';
import { describePaths, responseTexts } from './operations.ts';
import type { Parameter } from './parameters.ts';
import type { Schema } from './schema.ts';
import { openApi3 } from './schema.ts';

/** The OpenAPI 3.0 document of some of the served kinds: those of one group and version. */
export function openApi3Document(kinds: readonly Kind[], served: Served): object {
  const components = new Components(openApi3);
  for (const kind of kinds) addKind(components, kind, served);
  const paths = kinds.flatMap((kind) => describePaths(kind, served.groupSuffix));
  return {
    openapi: '3.0.0',
    // no version here: a new release does not invalidate the copies that clients have cached
    info: { title: 'nodeward', version: 'unversioned' },
    paths: Object.fromEntries(paths.map((each) => [each.path, pathItem(each)])),
    components: { schemas: Object.fromEntries(components.schemas) },
  };
}

function pathItem({ parameters, operations }: PathDescription): object {
  const byMethod = operations.map((each) => [each.method, operationObject(each)] as const);
  return { ...Object.fromEntries(byMethod), parameters: parameters.map(parameterObject) };
}

function operationObject(operation: Operation): object {
  const { id, description, tag, parameters, body, responses, action, kind } = operation;
  const answers = responses.codes.map((code) => [
    code,
    { description: responseTexts[code], content: content(responses) },
  ]);
  return {
    tags: [tag],
    description,
    operationId: id,
    ...(parameters.length === 0 ? {} : { parameters: parameters.map(parameterObject) }),
    ...(body === undefined ? {} : { requestBody: { required: body.required, content: content(body) } }),
    responses: Object.fromEntries([...answers, [401, { description: responseTexts[401] }]]),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kind,
  };
}

function content({ component, mediaTypes }: { component?: string; mediaTypes: readonly string[] }) {
  const schema: Schema =
    component === undefined ? { type: 'string' } : { $ref: `${openApi3.prefix}${component}` };
  return Object.fromEntries(mediaTypes.map((type) => [type, { schema }]));
}

function parameterObject({ name, in: place, type, description }: Parameter): object {
  const schema: Schema = { type, uniqueItems: true };
  return { name, in: place, description, ...(place === 'path' ? { required: true } : {}), schema };
}
