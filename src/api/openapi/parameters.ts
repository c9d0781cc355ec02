import type { StructType } from '../schema/index.ts';

/** A parameter of a request, other than its body. */
export interface Parameter {
  name: string;
  in: 'path' | 'query';
  type: 'string' | 'integer' | 'boolean';
  description: string;
}

const query = (name: string, type: Parameter['type'], description: string): Parameter => ({
  name,
  in: 'query',
  type,
  description,
});

const path = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  type: 'string',
  description,
});

const dryRun = query('dryRun', 'string', 'All: do everything but store it; nothing is persisted.');
const fieldManager = query(
  'fieldManager',
  'string',
  'Who makes the change; at most 128 printable characters.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What to do about unknown and duplicate fields: Ignore, Warn (the default) or Strict.',
);
const force = query('force', 'boolean', 'Take over fields that others own; only for apply.');
const labelSelector = query('labelSelector', 'string', 'Only objects whose labels fulfil this.');
const fieldSelector = query('fieldSelector', 'string', 'Only objects whose fields fulfil this.');
const limit = query('limit', 'integer', 'The most items of one answer; the list then says how to continue.');
const next = query('continue', 'string', 'The token of the chunk before.');
const resourceVersion = query('resourceVersion', 'string', 'The version to list or to watch from.');
const resourceVersionMatch = query(
  'resourceVersionMatch',
  'string',
  'How resourceVersion is meant in a list: Exact or NotOlderThan.',
);
const sendInitialEvents = query(
  'sendInitialEvents',
  'boolean',
  'Begin a watch with all objects, then a bookmark that says so.',
);
const timeoutSeconds = query('timeoutSeconds', 'integer', 'How long the call may last.');
const gracePeriodSeconds = query('gracePeriodSeconds', 'integer', 'Seconds until the object may be removed.');
const propagationPolicy = query(
  'propagationPolicy',
  'string',
  'What becomes of dependents: Orphan, Background or Foreground.',
);

const writing = [dryRun, fieldManager, fieldValidation];
const deleting = [dryRun, gracePeriodSeconds, propagationPolicy];
const selecting = [
  next,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  sendInitialEvents,
  timeoutSeconds,
];

/** The parameters of each action (specification, sections 4.1 and 4.2), without those of its path. */
export const actionParameters = {
  create: writing,
  delete: deleting,
  deletecollection: [...deleting, ...selecting],
  get: [],
  list: [
    query('allowWatchBookmarks', 'boolean', 'A watch may send bookmarks that tell how far it is.'),
    ...selecting,
    query('watch', 'boolean', 'Send changes as they happen instead of a list.'),
  ],
  patch: [...writing, force],
  update: writing,
} as const;

/** A parameter of every path. */
export const pretty = query('pretty', 'string', 'true: indent the answer for people.');

export const namespaceParameter = path('namespace', 'The namespace of the object.');

export function nameParameter(kind: string): Parameter {
  return path('name', `Name of the ${kind}.`);
}

/** The forwarded path of a subresource that forwards requests: in the query, or as the rest of the path. */
export const connectQuery = query('path', 'string', 'What is asked for behind it.');
export const connectRest = path('path', 'What is asked for behind it.');

const parameterTypes: Readonly<Record<string, Parameter['type']>> = {
  string: 'string',
  time: 'string',
  bool: 'boolean',
  int32: 'integer',
  int64: 'integer',
};

/** What the query of a request may say, by the fields of its options. A list may be given several times. */
export function queryParameters({ fields }: StructType): Parameter[] {
  return Object.entries(fields).flatMap(([name, { proto, type, doc }]) => {
    const known = parameterTypes[type.t === 'list' ? type.of.t : type.t];
    return known === undefined || proto === 0 ? [] : [query(name, known, doc)];
  });
}
