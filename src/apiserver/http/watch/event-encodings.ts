import type { ApiObject, ListMeta, ObjectType, Status, Table } from '../../../api/index.ts';
import { apiVersionOf, bufferOf, encodeObject, encodeWatchEvent, toTable } from '../../../api/index.ts';
import type { Clock } from '../../../base/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { EventEncoding, Stored } from '../../storage/index.ts';
import { shownAs } from '../answers/render.ts';
import { statusType } from '../answers/status-body.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { EventParts } from './event-parts.ts';

/** How the events of a watch are written: JSON has a line for each, protobuf a frame. */
export interface StreamEncoding extends EventEncoding {
  /** The event that ends a watch which failed. */
  error(status: Status): Uint8Array;
  /** The first event of a stream, where it differs from the same event later. */
  first?(frame: Uint8Array): Uint8Array;
  /** What the watchers of this encoding share. */
  parts: EventParts;
}

type Events = Omit<StreamEncoding, 'parts'>;

/** The event encoding of a resource in a form. */
export type EventEncodings = (resource: Resource, form: Form) => StreamEncoding;

/** The event encodings of every resource: one object per resource and form, so that watchers share their bytes. */
export function eventEncodings(clock: Clock): EventEncodings {
  const known = new Map<Resource, Map<string, StreamEncoding>>();
  return (resource, form) => {
    const forms = known.get(resource) ?? new Map<string, StreamEncoding>();
    known.set(resource, forms);
    const name = `${form.as} ${form.encoding} ${form.as === 'table' ? form.include : ''}`;
    const encoding = forms.get(name) ?? { ...encodingOf(resource, form, clock), parts: new EventParts() };
    forms.set(name, encoding);
    return encoding;
  };
}

function encodingOf(resource: Resource, form: Form, clock: Clock): Events {
  if (form.as === 'table') return tableEvents(resource, form, clock);
  return form.as === 'object' && form.encoding === 'json'
    ? splicedEvents(resource)
    : objectEvents(resource, form);
}

const close = Buffer.from('}\n');

/** The stored bytes between an opening and an end. */
function splicedEvents(resource: Resource): Events {
  return {
    event(type, object) {
      const open = Buffer.from(`{"type":"${type}","object":`);
      return Buffer.concat([open, resource.encoding.show(object), close]);
    },
    bookmark: (revision, initialEventsEnd) =>
      line('BOOKMARK', bookmarkObject(resource, revision, initialEventsEnd)),
    error: (status) => line('ERROR', status),
  };
}

function objectEvents(resource: Resource, form: Form): Events {
  const { type: shownType, show } = shownAs(form, resource.kind, resource.groupSuffix);
  const frame = form.encoding === 'protobuf' ? protobufFrame : jsonFrame;
  return {
    event: (type, stored) => frame(type, shownType, show(resource.encoding.read(stored))),
    bookmark: (revision, initialEventsEnd) =>
      frame('BOOKMARK', shownType, show(bookmarkObject(resource, revision, initialEventsEnd))),
    error: (status) => frame('ERROR', statusType, status),
  };
}

type Typed = Pick<ApiObject, 'apiVersion' | 'kind'>;

function jsonFrame(type: string, _type: ObjectType, object: Typed): Uint8Array {
  return line(type, object);
}

function protobufFrame(type: string, objectType: ObjectType, object: Typed): Uint8Array {
  return encodeWatchEvent(type, encodeObject(objectType, object, 'protobuf'));
}

type TableForm = Extract<Form, { as: 'table' }>;

/** The columns are told once, by the first event, as the reference has it. */
function tableEvents(resource: Resource, { include }: TableForm, clock: Clock): Events {
  const { kind, groupSuffix } = resource;
  const tableOf = (objects: ApiObject[], metadata: ListMeta, included = include) =>
    toTable(kind, objects, metadata, { groupSuffix, include: included, now: clock.now(), headers: false });
  const columns = Buffer.from(`"columnDefinitions":${JSON.stringify(columnsOf(resource))},`);
  return {
    event: (type, stored: Stored) =>
      line(type, tableOf([resource.encoding.read(stored)], { resourceVersion: String(stored.revision) })),
    bookmark(revision, initialEventsEnd) {
      const object = bookmarkObject(resource, revision, initialEventsEnd);
      // that they end here is told by an annotation, so some of the object is needed in any case
      const included = initialEventsEnd && include === 'None' ? 'Metadata' : include;
      return line('BOOKMARK', tableOf([object], { resourceVersion: String(revision) }, included));
    },
    error: (status) => line('ERROR', status),
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

function bookmarkObject(resource: Resource, revision: number, initialEventsEnd: boolean): ApiObject {
  const annotations = { 'k8s.io/initial-events-end': 'true' };
  return {
    kind: resource.kind.kind,
    apiVersion: apiVersionOf(resource.kind, resource.groupSuffix),
    metadata: { resourceVersion: String(revision), ...(initialEventsEnd ? { annotations } : {}) },
  };
}

function line(type: string, object: object): Buffer {
  return Buffer.from(`${JSON.stringify({ type, object })}\n`);
}
