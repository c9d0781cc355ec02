import { version } from '../version.ts';
import { Components } from './components.ts';
import type { Served } from './objects.ts';
import { addKind } from './objects.ts';
import type { Operation, PathDescription } from './operations.ts';
import { describePaths, responseTexts } from './operations.ts';
import type { Parameter } from './parameters.ts';
import type { Schema } from './schema.ts';
import { swagger2 } from './schema.ts';

/** The Swagger 2.0 document of all served kinds. */
export function swagger2Document(served: Served): object {
  const { kinds, groupSuffix } = served;
  const components = new Components(swagger2);
  for (const kind of kinds) addKind(components, kind, served);
  const paths = kinds.flatMap((kind) => describePaths(kind, groupSuffix));
  return {
    swagger: '2.0',
    info: { title: 'nodeward', version: version.gitVersion },
    paths: Object.fromEntries(paths.map((each) => [each.path, pathItem(each)])),
    definitions: Object.fromEntries(components.schemas),
  };
}

function pathItem({ parameters, operations }: PathDescription): object {
  const byMethod = operations.map((each) => [each.method, operationObject(each)] as const);
  return { ...Object.fromEntries(byMethod), parameters: parameters.map(parameterObject) };
}

function operationObject(operation: Operation): object {
  const { id, description, tag, body, responses, action, kind } = operation;
  const parameters = [
    ...(body === undefined ? [] : [bodyObject(body)]),
    ...operation.parameters.map(parameterObject),
  ];
  const schema: Schema =
    responses.component === undefined ? { type: 'string' } : createReference(responses.component);
  const answers = responses.codes.map((code) => [code, { description: responseTexts[code], schema }]);
  return {
    tags: [tag],
    description,
    operationId: id,
    consumes: body?.mediaTypes ?? ['*/*'],
    produces: responses.mediaTypes,
    ...(parameters.length === 0 ? {} : { parameters }),
    responses: Object.fromEntries([...answers, [401, { description: responseTexts[401] }]]),
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': kind,
  };
}

function bodyObject({ component, required }: NonNullable<Operation['body']>): object {
  return { name: 'body', in: 'body', ...(required ? { required } : {}), schema: createReference(component) };
}

function parameterObject({ name, in: place, type, description }: Parameter): object {
  return {
    name,
    in: place,
    description,
    ...(place === 'path' ? { required: true } : {}),
    type,
    uniqueItems: true,
  };
}

function createReference(component: string): Schema {
  return { $ref: `${swagger2.prefix}${component}` };
}
