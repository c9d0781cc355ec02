import type { ApiObject, ListMeta, ObjectType, Status, Table } from '../../../api/index.ts';
import { apiVersionOf, bufferOf, encodeObject, encodeWatchEvent, toTable } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { EventEncoding, Stored } from '../../storage/index.ts';
import { resolveProjection } from '../answers/render.ts';
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
  return form.as === 'object' && form.encoding === 'json'
    ? spliceStoredBytes(resource)
    : encodeAsObject(resource, form);
}

const close = Buffer.from('}\n');

/** Puts the stored bytes between a prefix and a suffix, without parsing them. */
function spliceStoredBytes(resource: Resource): Events {
  return {
    event(type, object) {
      const open = Buffer.from(`{"type":"${type}","object":`);
      return Buffer.concat([open, resource.encoding.show(object), close]);
    },
    bookmark: (revision, initialEventsEnd) =>
      renderLine('BOOKMARK', createBookmark(resource, revision, initialEventsEnd)),
    error: (status) => renderLine('ERROR', status),
  };
}

function encodeAsObject(resource: Resource, form: Form): Events {
  const { type: objectType, project } = resolveProjection(form, resource.kind, resource.groupSuffix);
  const frame = form.encoding === 'protobuf' ? renderProtobufFrame : renderJsonFrame;
  return {
    event: (type, stored) => frame(type, objectType, project(resource.encoding.readWhole(stored))),
    bookmark: (revision, initialEventsEnd) =>
      frame('BOOKMARK', objectType, project(createBookmark(resource, revision, initialEventsEnd))),
    error: (status) => frame('ERROR', statusType, status),
  };
}

type Typed = Pick<ApiObject, 'apiVersion' | 'kind'>;

function renderJsonFrame(type: string, _type: ObjectType, object: Typed): Uint8Array {
  return renderLine(type, object);
}

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
