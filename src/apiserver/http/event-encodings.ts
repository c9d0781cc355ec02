import type { ApiObject, ObjectType, Status } from '../../api/index.ts';
import { apiVersionOf, encodeObject, encodeWatchEvent, toTable } from '../../api/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Resource } from '../registry/index.ts';
import type { EventEncoding, Stored } from '../storage/index.ts';
import type { Form } from './negotiate.ts';
import { shownAs } from './render.ts';
import { statusType } from './status-body.ts';

/** How the events of a watch are written: JSON has a line for each, protobuf a frame. */
export interface StreamEncoding extends EventEncoding {
  /** The event that ends a watch which failed. */
  error(status: Status): Uint8Array;
}

/** The event encoding of a resource in a form. */
export type EventEncodings = (resource: Resource, form: Form) => StreamEncoding;

/** The event encodings of every resource: one object per resource and form, so that watchers share their bytes. */
export function eventEncodings(clock: Clock): EventEncodings {
  const known = new Map<Resource, Map<string, StreamEncoding>>();
  return (resource, form) => {
    const forms = known.get(resource) ?? new Map<string, StreamEncoding>();
    known.set(resource, forms);
    const name = `${form.as} ${form.encoding} ${form.as === 'table' ? form.include : ''}`;
    const encoding = forms.get(name) ?? encodingOf(resource, form, clock);
    forms.set(name, encoding);
    return encoding;
  };
}

function encodingOf(resource: Resource, form: Form, clock: Clock): StreamEncoding {
  if (form.as === 'table') return tableEvents(resource, form, clock);
  return form.as === 'object' && form.encoding === 'json'
    ? splicedEvents(resource)
    : objectEvents(resource, form);
}

const close = Buffer.from('}\n');

/** The stored bytes between an opening and an end. */
function splicedEvents(resource: Resource): StreamEncoding {
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

function objectEvents(resource: Resource, form: Form): StreamEncoding {
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

function tableEvents(resource: Resource, { include }: TableForm, clock: Clock): StreamEncoding {
  const { kind, groupSuffix } = resource;
  const tableOf = (object: ApiObject, revision: number, included = include) => {
    const meta = { resourceVersion: String(revision) };
    return toTable(kind, [object], meta, { groupSuffix, include: included, now: clock.now(), headers: true });
  };
  return {
    event: (type, stored: Stored) => line(type, tableOf(resource.encoding.read(stored), stored.revision)),
    bookmark(revision, initialEventsEnd) {
      const object = bookmarkObject(resource, revision, initialEventsEnd);
      // that they end here is told by an annotation, so some of the object is needed in any case
      const included = initialEventsEnd && include === 'None' ? 'Metadata' : include;
      return line('BOOKMARK', tableOf(object, revision, included));
    },
    error: (status) => line('ERROR', status),
  };
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
