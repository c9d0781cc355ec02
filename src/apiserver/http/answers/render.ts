import type { ApiObject, Kind, ListHead, ListMeta, TableBuilder } from '../../../api/index.ts';
import {
  apiVersionOf,
  bufferOf,
  encodeItem,
  encodeObject,
  encodeObjectList,
  encodeText,
  parseObject,
  tableBuilder,
} from '../../../api/index.ts';
import type { Answer } from '../../handlers/index.ts';
import type { Resource } from '../../registry/index.ts';
import type { Form } from '../negotiation/negotiate.ts';
import { renderIndentedItem, renderIndentedList, renderJson } from './indent.ts';
import type { LongBody } from './list-body.ts';
import { joinWhenShort, stitchList } from './list-body.ts';
import { joinMessages } from './message-list.ts';
import { messageWriter } from './message-writer.ts';
import { resolveProjection } from './projection.ts';
import { mapInSlices } from './slices.ts';
import { renderStatus } from './status-body.ts';

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
 * Renders the answer of a verb in the negotiated form. JSON objects are sent as they are stored, without parsing them; a
 * list of many is a long body.
 */
export function render(answer: Answer, options: RenderOptions): Buffer | Promise<Buffer | LongBody> {
  if (answer.form === 'status') return renderStatus(answer.status, options.form, options.pretty);
  return answer.form === 'object' ? renderObject(answer, options) : renderList(answer, options);
}

function renderObject({ type, json }: ObjectAnswer, options: RenderOptions): Buffer {
  const { form, pretty, resource } = options;
  if (form.as === 'object' && form.encoding === 'json' && !pretty) return bufferOf(json);
  const object = parseObject(json);
  if (form.as === 'table') {
    const builder = createTableBuilder(
      type === resource.kind ? resource.kind : { columns: [] },
      form,
      options,
    );
    return renderTable(builder, [builder.row(object)], versionOf(object), form, pretty);
  }
  const projection = resolveProjection(form, type, resource.groupSuffix);
  const value = projection.project(object);
  return form.encoding === 'json'
    ? renderJson(value, pretty)
    : encodeObject(projection.type, value, form.encoding);
}

async function renderList(
  { items, metadata }: ListAnswer,
  options: RenderOptions,
): Promise<Buffer | LongBody> {
  const { form, pretty, resource } = options;
  const { readWhole, show: showStored, splice } = resource.encoding;
  if (form.as === 'table') {
    const builder = createTableBuilder(resource.kind, form, options);
    const rows = await mapInSlices(items, (item) => builder.row(readWhole(item)));
    return renderTable(builder, rows, metadata, form, pretty);
  }
  const { type, project } = resolveProjection(form, resource.kind, resource.groupSuffix);
  const apiVersion = apiVersionOf(type, resource.groupSuffix);
  const head: ListHead = { kind: `${type.kind}List`, apiVersion, metadata };
  const { as, encoding } = form;
  if (encoding === 'json') {
    if (pretty)
      return renderIndentedList(
        head,
        await mapInSlices(items, (item) => renderIndentedItem(project(readWhole(item)))),
      );
    if (as === 'object' && splice !== undefined) return joinWhenShort(stitchList(head, items, splice));
    if (as === 'object') return encodeObjectList(head, await mapInSlices(items, showStored), encoding);
  }
  if (encoding === 'protobuf')
    return joinWhenShort(await joinMessages(head, items, messageWriter(resource, form)));
  const encoded = await mapInSlices(items, (item) => encodeItem(type, project(readWhole(item)), encoding));
  return encodeObjectList(head, encoded, encoding);
}

type TableForm = Extract<Form, { as: 'table' }>;

function createTableBuilder(
  kind: Pick<Kind, 'columns'>,
  { include, version }: TableForm,
  { resource, now }: RenderOptions,
): TableBuilder<ApiObject> {
  return tableBuilder(kind, { groupSuffix: resource.groupSuffix, include, version, now, headers: true });
}

function renderTable(
  builder: TableBuilder<ApiObject>,
  rows: Parameters<typeof builder.table>[0],
  metadata: ListMeta,
  { encoding }: TableForm,
  pretty: boolean,
): Buffer {
  const table = builder.table(rows, metadata);
  return encoding === 'json' ? renderJson(table, pretty) : encodeText(table, encoding);
}

function versionOf({ metadata }: ApiObject): ListMeta {
  const resourceVersion = metadata?.resourceVersion;
  return resourceVersion === undefined ? {} : { resourceVersion };
}
