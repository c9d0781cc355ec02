import type { ApiObject, Kind, ListHead, ListMeta, ObjectType, TableBuilder } from '../../../api/index.ts';
import {
  apiVersionOf,
  bufferOf,
  encodeItem,
  encodeObject,
  encodeObjectList,
  encodeText,
  parseObject,
  partialObjectMetadata,
  tableBuilder,
  toPartial,
} from '../../../api/index.ts';
import type { Answer } from '../../handlers/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { indentedItem, indentedList, jsonOf } from './indent.ts';
import type { LongBody } from './list-body.ts';
import { stitchedList, wholeWhenShort } from './list-body.ts';
import { inSlices } from './slices.ts';
import { statusBody } from './status-body.ts';

export interface RenderOptions {
  resource: Resource;
  form: Form;
  /** Indent JSON for people. */
  pretty: boolean;
  /** Wall clock, milliseconds, for ages. */
  now: number;
}

type ObjectAnswer = Extract<Answer, { form: 'object' }>;
type ListAnswer = Extract<Answer, { form: 'list' }>;

/**
 * The body of what a verb answered, in the form that was asked for. JSON objects are the stored bytes, unread; of many
 * it is a long body.
 */
export function render(answer: Answer, options: RenderOptions): Buffer | Promise<Buffer | LongBody> {
  if (answer.form === 'status') return statusBody(answer.status, options.form, options.pretty);
  return answer.form === 'object' ? renderObject(answer, options) : renderList(answer, options);
}

function renderObject({ type, json }: ObjectAnswer, options: RenderOptions): Buffer {
  const { form, pretty, resource } = options;
  if (form.as === 'object' && form.encoding === 'json' && !pretty) return bufferOf(json);
  const object = parseObject(json);
  if (form.as === 'table') {
    const builder = builderFor(type === resource.kind ? resource.kind : { columns: [] }, form, options);
    return tableBody(builder, [builder.row(object)], versionOf(object), form, pretty);
  }
  const shown = shownAs(form, type, resource.groupSuffix);
  const value = shown.show(object);
  return form.encoding === 'json' ? jsonOf(value, pretty) : encodeObject(shown.type, value, form.encoding);
}

async function renderList(
  { items, metadata }: ListAnswer,
  options: RenderOptions,
): Promise<Buffer | LongBody> {
  const { form, pretty, resource } = options;
  const { read, show: showStored, splice } = resource.encoding;
  if (form.as === 'table') {
    const builder = builderFor(resource.kind, form, options);
    const rows = await inSlices(items, (item) => builder.row(read(item)));
    return tableBody(builder, rows, metadata, form, pretty);
  }
  const { type, show } = shownAs(form, resource.kind, resource.groupSuffix);
  const apiVersion = apiVersionOf(type, resource.groupSuffix);
  const head: ListHead = { kind: `${type.kind}List`, apiVersion, metadata };
  const { as, encoding } = form;
  if (encoding === 'json') {
    if (pretty) return indentedList(head, await inSlices(items, (item) => indentedItem(show(read(item)))));
    if (as === 'object' && splice !== undefined) return wholeWhenShort(stitchedList(head, items, splice));
    if (as === 'object') return encodeObjectList(head, await inSlices(items, showStored), encoding);
  }
  const encoded = await inSlices(items, (item) => encodeItem(type, show(read(item)), encoding));
  return encodeObjectList(head, encoded, encoding);
}

interface Shown {
  type: ObjectType;
  show(object: ApiObject): ApiObject;
}

/** The objects as they are, or what there is of them to show. */
export function shownAs({ as }: Form, type: ObjectType, groupSuffix: string): Shown {
  if (as !== 'partial') return { type, show: (object) => object };
  return { type: partialObjectMetadata, show: (object) => toPartial(object, groupSuffix) };
}

type TableForm = Extract<Form, { as: 'table' }>;

function builderFor(
  kind: Pick<Kind, 'columns'>,
  { include }: TableForm,
  { resource, now }: RenderOptions,
): TableBuilder<ApiObject> {
  return tableBuilder(kind, { groupSuffix: resource.groupSuffix, include, now, headers: true });
}

function tableBody(
  builder: TableBuilder<ApiObject>,
  rows: Parameters<typeof builder.table>[0],
  metadata: ListMeta,
  { encoding }: TableForm,
  pretty: boolean,
): Buffer {
  const table = builder.table(rows, metadata);
  return encoding === 'json' ? jsonOf(table, pretty) : encodeText(table, encoding);
}

function versionOf({ metadata }: ApiObject): ListMeta {
  const resourceVersion = metadata?.resourceVersion;
  return resourceVersion === undefined ? {} : { resourceVersion };
}
