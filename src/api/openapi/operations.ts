import type { BodyType, Kind, ObjectType, Subresource } from '../kinds/index.ts';
import { groupName } from '../kinds/index.ts';
import { componentName, homeOf } from './names.ts';
import type { Parameter } from './parameters.ts';
import {
  actionParameters,
  connectQuery,
  connectRest,
  nameParameter,
  namespaceParameter,
  pretty,
  queryParameters,
} from './parameters.ts';
import type { GroupVersionKind } from './schema.ts';

/** The operations on one path, independent of the version of OpenAPI. */
export interface PathDescription {
  /** With `{namespace}` and `{name}`. */
  path: string;
  /** Parameters of every operation on the path. */
  parameters: readonly Parameter[];
  operations: readonly Operation[];
}

export type Method = 'get' | 'put' | 'post' | 'delete' | 'patch' | 'head' | 'options';

export interface Operation {
  method: Method;
  id: string;
  description: string;
  tag: string;
  parameters: readonly Parameter[];
  body?: { component: string; mediaTypes: readonly string[]; required: boolean };
  /** Without a component: text. */
  responses: { codes: readonly number[]; component?: string; mediaTypes: readonly string[] };
  /** The name of the action for tools: `post`, `deletecollection`. */
  action: string;
  kind: GroupVersionKind;
}

type Action = keyof typeof actionParameters;

/** An action over HTTP; `action` is its name in the documents, `word` the beginning of the operation's id. */
interface Meaning {
  method: Method;
  action: string;
  word: string;
  codes: readonly number[];
}

const meanings: Readonly<Record<Action, Meaning>> = {
  get: { method: 'get', action: 'get', word: 'read', codes: [200] },
  list: { method: 'get', action: 'list', word: 'list', codes: [200] },
  create: { method: 'post', action: 'post', word: 'create', codes: [200, 201, 202] },
  update: { method: 'put', action: 'put', word: 'replace', codes: [200, 201] },
  patch: { method: 'patch', action: 'patch', word: 'patch', codes: [200, 201] },
  delete: { method: 'delete', action: 'delete', word: 'delete', codes: [200, 202] },
  deletecollection: { method: 'delete', action: 'deletecollection', word: 'delete', codes: [200] },
};

/** The descriptions of the documented response codes. */
export const responseTexts: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted',
  401: 'Unauthorized',
};

const protobufTypes = ['application/vnd.kubernetes.protobuf', 'application/vnd.cluster.protobuf'];
const answerTypes = ['application/json', 'application/yaml', ...protobufTypes];
const watchTypes = ['application/json', ...protobufTypes].map((type) => `${type};stream=watch`);
const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

const metaComponent = (name: string): string => componentName('meta/v1', name);

/** The position of a path among the paths of a kind. */
interface Place {
  kind: Kind;
  groupSuffix: string;
  part?: Subresource;
  everywhere?: boolean;
}

/** Every path of a kind with its operations (specification, sections 4.1 to 4.3). */
export function describePaths(kind: Kind, groupSuffix: string): PathDescription[] {
  const group = groupName(kind.group, groupSuffix);
  const base = group === '' ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
  const collection = `${base}/${kind.namespaced ? 'namespaces/{namespace}/' : ''}${kind.resource}`;
  const item = `${collection}/{name}`;
  const place = { kind, groupSuffix };
  const paths = [
    describePath(place, collection, ['list', 'create', 'deletecollection'], kind.verbs),
    describePath(place, item, ['get', 'update', 'patch', 'delete'], kind.verbs),
  ];
  if (kind.namespaced) {
    const all = `${base}/${kind.resource}`;
    paths.push(describePath({ ...place, everywhere: true }, all, ['list'], kind.verbs));
  }
  for (const part of kind.subresources) {
    if (part.connects) {
      const path = `${item}/${part.name}`;
      paths.push(...forwardedPaths({ ...place, part }, path));
      continue;
    }
    const actions = ['get', 'create', 'update', 'patch', 'delete'] as const;
    paths.push(describePath({ ...place, part }, `${item}/${part.name}`, actions, part.verbs));
  }
  return paths.filter(({ operations }) => operations.length > 0);
}

function describePath(
  place: Place,
  path: string,
  actions: readonly Action[],
  served: readonly string[],
): PathDescription {
  const { kind } = place;
  return {
    path,
    parameters: [
      ...(path.includes('{name}') ? [nameParameter(kind.kind)] : []),
      ...(path.includes('{namespace}') ? [namespaceParameter] : []),
      pretty,
    ],
    operations: actions
      .filter((action) => served.includes(action))
      .map((action) => describeOperation(place, action)),
  };
}

function describeOperation(place: Place, action: Action): Operation {
  const { kind, groupSuffix, part } = place;
  const meaning = meanings[action];
  const subject = (action === 'create' || part?.view !== undefined ? part?.body : undefined) ?? kind;
  const body = bodyOf(action, subject);
  return {
    method: meaning.method,
    id: createOperationId(place, action),
    description: createDescription(place, action),
    tag: `${lowerFirst(groupWord(kind))}_${kind.version}`,
    parameters: actionParameters[action],
    ...(body === undefined ? {} : { body }),
    responses: {
      codes: meaning.codes,
      component: answerOf(action, subject),
      mediaTypes: action === 'list' ? [...answerTypes, ...watchTypes] : answerTypes,
    },
    action: meaning.action,
    kind: {
      group: groupName(subject.group, groupSuffix),
      version: subject.version,
      kind: subject.kind,
    },
  };
}

function forwardedPaths(place: Place, path: string): PathDescription[] {
  const { query, body } = place.part ?? {};
  if (query === undefined) return connectPaths(place, path);
  return [body === undefined ? textPath(place, path, query) : streamPath(place, path, query)];
}

const connectMethods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** The paths of a subresource that forwards requests: one for itself, and one for all paths below it. */
function connectPaths(place: Place, path: string): PathDescription[] {
  const name = nameParameter(place.kind.kind);
  const describe = (suffix: string) =>
    connectMethods.map((method) => connectOperation(place, method, suffix));
  return [
    { path, parameters: [name, connectQuery], operations: describe('') },
    { path: `${path}/{path}`, parameters: [name, connectRest], operations: describe('WithPath') },
  ];
}

function connectOperation(place: Place, method: Method, suffix: string): Operation {
  const { kind, groupSuffix, part } = place;
  const { group, version, kind: name } = part?.body ?? kind;
  const where = `${upperFirst(groupWord(kind))}${upperFirst(kind.version)}`;
  return {
    method,
    id: `connect${where}${upperFirst(method)}${kind.namespaced ? 'Namespaced' : ''}${kind.kind}${upperFirst(part?.name ?? '')}${suffix}`,
    description: `connect ${method.toUpperCase()} requests to ${part?.name} of ${kind.kind}`,
    tag: `${lowerFirst(groupWord(kind))}_${kind.version}`,
    parameters: [],
    responses: { codes: [200], mediaTypes: ['*/*'] },
    action: 'connect',
    kind: { group: groupName(group, groupSuffix), version, kind: name },
  };
}

/** The path of a subresource whose connection becomes a stream. */
function streamPath(place: Place, path: string, { root }: BodyType): PathDescription {
  const methods = ['get', 'post'] as const;
  return {
    path,
    parameters: [...queryParameters(root), nameParameter(place.kind.kind), namespaceParameter],
    operations: methods.map((method) => connectOperation(place, method, '')),
  };
}

/** The path of a subresource that is read as text. */
function textPath(place: Place, path: string, { root }: BodyType): PathDescription {
  const described = describePath(place, path, ['get'], ['get']);
  const operations = described.operations.map((operation) => ({
    ...operation,
    description: `read ${place.part?.name} of the specified ${place.kind.kind}`,
    parameters: queryParameters(root),
    responses: { codes: [200], mediaTypes: ['text/plain', ...answerTypes] },
  }));
  return { ...described, operations };
}

function bodyOf(action: Action, subject: ObjectType): Operation['body'] {
  if (action === 'create' || action === 'update') {
    return { component: componentOf(subject), mediaTypes: ['*/*'], required: true };
  }
  if (action === 'patch') {
    return { component: metaComponent('Patch'), mediaTypes: patchTypes, required: true };
  }
  if (action === 'delete' || action === 'deletecollection') {
    return { component: metaComponent('DeleteOptions'), mediaTypes: ['*/*'], required: false };
  }
  return undefined;
}

function answerOf(action: Action, subject: ObjectType): string {
  if (action === 'delete' || action === 'deletecollection') return metaComponent('Status');
  return action === 'list' ? `${componentOf(subject)}List` : componentOf(subject);
}

function componentOf(type: ObjectType): string {
  return componentName(homeOf(type), type.kind);
}

/** `listCoreV1PodForAllNamespaces`, `replaceCoreV1NamespacedPodStatus`: the method names of generated clients. */
function createOperationId({ kind, part, everywhere }: Place, action: Action): string {
  const set = action === 'deletecollection' ? 'Collection' : '';
  const scope = kind.namespaced && !everywhere ? 'Namespaced' : '';
  const rest = everywhere ? 'ForAllNamespaces' : upperFirst(part?.name ?? '');
  const where = `${upperFirst(groupWord(kind))}${upperFirst(kind.version)}`;
  return `${meanings[action].word}${where}${set}${scope}${kind.kind}${rest}`;
}

const sentences: Readonly<Record<Action, string>> = {
  get: 'read the specified',
  list: 'list or watch objects of kind',
  create: 'create a',
  update: 'replace the specified',
  patch: 'partially update the specified',
  delete: 'delete a',
  deletecollection: 'delete a collection of',
};

function createDescription({ kind, part }: Place, action: Action): string {
  if (part === undefined) return `${sentences[action]} ${kind.kind}`;
  const [verb = '', ...rest] = sentences[action].split(' ');
  return `${verb} ${part.name} of ${rest.join(' ')} ${kind.kind}`;
}

/** `RbacAuthorization`, `Core`. */
function groupWord({ group }: Kind): string {
  if (group === '') return 'Core';
  return group.split('.').map(upperFirst).join('');
}

function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
