import type { ApiObject, ListMeta, ObjectType, Status, Table } from '../../../api/index.ts';
import {
  apiVersionOf,
  bufferOf,
  encodeObject,
  encodeWatchEvent,
  eventFrames,
  toTable,
} from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { Resource, Splice } from '../../registry/index.ts';
import type { EventEncoding, Stored } from '../../storage/index.ts';
import { messageWriter } from '../answers/message-writer.ts';
import { Pieces } from '../answers/pieces.ts';
import { resolveProjection } from '../answers/projection.ts';
import { statusType } from '../answers/status-body.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { EventParts } from './event-parts.ts';

/** The encoding of the events of a watch: a line of JSON for each, or a protobuf frame. */
export interface StreamEncoding extends EventEncoding {
  /** The last event of a watch that failed. */
  error(status: Status): Uint8Array;
  /** Converts an event for the start of a stream, where it needs another form than later. */
  first?(frame: Uint8Array): Uint8Array;
  /** The bytes that the watchers of this encoding share. */
  parts: EventParts;
}

type Events = Omit<StreamEncoding, 'parts'>;

/** Returns the event encoding of a resource in a form. */
export type EventEncodings = (resource: Resource, form: Form) => StreamEncoding;

/** Creates event encodings, one object per resource and form, so that watchers share their bytes. */
export function createEventEncodings(clock: Clock): EventEncodings {
  const known = new Map<Resource, Map<string, StreamEncoding>>();
  return (resource, form) => {
    const forms = known.get(resource) ?? new Map<string, StreamEncoding>();
    known.set(resource, forms);
    const name = `${form.as} ${form.encoding} ${form.as === 'table' ? `${form.include} ${form.version}` : ''}`;
    const encoding = forms.get(name) ?? { ...createEncoding(resource, form, clock), parts: new EventParts() };
    forms.set(name, encoding);
    return encoding;
  };
}

function createEncoding(resource: Resource, form: Form, clock: Clock): Events {
  if (form.as === 'table') return encodeAsTable(resource, form, clock);
  if (form.encoding === 'protobuf') return encodeAsMessage(resource, form);
  return form.as === 'object' && form.encoding === 'json'
    ? spliceStoredBytes(resource)
    : encodeAsObject(resource, form);
}

const close = Buffer.from('}\n');

/** Puts the stored bytes between a prefix and a suffix, without parsing them. */
function spliceStoredBytes(resource: Resource): Events {
  const { show, splice } = resource.encoding;
  return {
    event: (type, object) => Buffer.concat([openLine(type), show(object), close]),
    ...(splice !== undefined && { added: (objects) => [joinLines(splice, objects)] }),
    bookmark: (revision, initialEventsEnd) =>
      renderLine('BOOKMARK', createBookmark(resource, revision, initialEventsEnd)),
    error: (status) => renderLine('ERROR', status),
  };
}

function openLine(type: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":`);
}

/** The ADDED events of many objects, in one buffer. */
function joinLines(splice: Splice, objects: readonly Stored[]): Buffer {
  const open = openLine('ADDED');
  let length = objects.length * (open.length + close.length);
  for (const object of objects) length += splice.size(object);
  const lines = Buffer.allocUnsafeSlow(length);
  let at = 0;
  for (const object of objects) {
    at += open.copy(lines, at);
    at = splice.write(object, lines, at);
    at += close.copy(lines, at);
  }
  return lines;
}

/** Converts the stored bytes, without parsing them where that is possible. */
function encodeAsMessage(resource: Resource, form: Form): Events {
  const { type: objectType, project } = resolveProjection(form, resource.kind, resource.groupSuffix);
  const apiVersion = apiVersionOf(objectType, resource.groupSuffix);
  const frames = eventFrames({ apiVersion, kind: objectType.kind });
  const write = messageWriter(resource, form);
  let share = 1; // of the size in JSON that the events had the last time
  const sizeOf = ({ value }: Stored) => Math.ceil(value.length * share) + frameBytes;
  const join = (type: string, objects: readonly Stored[]) => {
    const pieces = new Pieces(objects.reduce((bytes, object) => bytes + sizeOf(object), 0));
    for (const object of objects) {
      const writeMessage = (into: Uint8Array, from: number) => write(object, into, from);
      pieces.add(sizeOf(object), (into, from) => frames.write(type, writeMessage, into, from));
    }
    share = pieces.length / objects.reduce((bytes, { value }) => bytes + value.length, 0);
    return pieces.finish();
  };
  return {
    event: (type, object) => Buffer.concat(join(type, [object])),
    added: (objects) => join('ADDED', objects),
    bookmark: (revision, initialEventsEnd) =>
      renderProtobufFrame(
        'BOOKMARK',
        objectType,
        project(createBookmark(resource, revision, initialEventsEnd)),
      ),
    error: (status) => renderProtobufFrame('ERROR', statusType, status),
  };
}

/** More than the frame of an event has beside its message. */
const frameBytes = 256;

function encodeAsObject(resource: Resource, form: Form): Events {
  const { project } = resolveProjection(form, resource.kind, resource.groupSuffix);
  return {
    event: (type, stored) => renderLine(type, project(resource.encoding.readWhole(stored))),
    bookmark: (revision, initialEventsEnd) =>
      renderLine('BOOKMARK', project(createBookmark(resource, revision, initialEventsEnd))),
    error: (status) => renderLine('ERROR', status),
  };
}

type Typed = Pick<ApiObject, 'apiVersion' | 'kind'>;

function renderProtobufFrame(type: string, objectType: ObjectType, object: Typed): Uint8Array {
  return encodeWatchEvent(type, encodeObject(objectType, object, 'protobuf'));
}

type TableForm = Extract<Form, { as: 'table' }>;

/** As in the reference, only the first event has the columns. */
function encodeAsTable(resource: Resource, { include, version }: TableForm, clock: Clock): Events {
  const { kind, groupSuffix } = resource;
  const tableOf = (objects: ApiObject[], metadata: ListMeta, included = include) =>
    toTable(kind, objects, metadata, {
      groupSuffix,
      include: included,
      version,
      now: clock.now(),
      headers: false,
    });
  const columns = Buffer.from(`"columnDefinitions":${JSON.stringify(columnsOf(resource))},`);
  return {
    event: (type, stored: Stored) =>
      renderLine(
        type,
        tableOf([resource.encoding.readWhole(stored)], { resourceVersion: String(stored.revision) }),
      ),
    bookmark(revision, initialEventsEnd) {
      const object = createBookmark(resource, revision, initialEventsEnd);
      // an annotation says that the initial events end here, so the metadata is needed in any case
      const included = initialEventsEnd && include === 'None' ? 'Metadata' : include;
      return renderLine('BOOKMARK', tableOf([object], { resourceVersion: String(revision) }, included));
    },
    error: (status) => renderLine('ERROR', status),
    first(frame) {
      const bytes = bufferOf(frame);
      const at = bytes.indexOf(objectOpening) + objectOpening.length;
      return Buffer.concat([bytes.subarray(0, at), columns, bytes.subarray(at)]);
    },
  };
}

const objectOpening = Buffer.from('"object":{');

function columnsOf({ kind, groupSuffix }: Resource): Table['columnDefinitions'] {
  return toTable(kind, [], {}, { groupSuffix, include: 'None', now: 0, headers: true }).columnDefinitions;
}

function createBookmark(resource: Resource, revision: number, initialEventsEnd: boolean): ApiObject {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    kind: resource.kind.kind,
    apiVersion: apiVersionOf(resource.kind, resource.groupSuffix),
    metadata: { resourceVersion: String(revision), ...(initialEventsEnd ? { annotations } : {}) },
  };
}

function renderLine(type: string, object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}
