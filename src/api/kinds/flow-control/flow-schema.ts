import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import { statusPart } from '../workloads/display.ts';
import type { FlowSchema } from './description.ts';
import { flowSchemaRoot, unused } from './description.ts';
import { flowSchemaCauses } from './flow-schema-causes.ts';

const usualPrecedence = 1000;

function withDefaults(schema: FlowSchema): FlowSchema {
  const { spec } = schema;
  if (spec === undefined) return schema;
  return { ...schema, spec: { ...spec, matchingPrecedence: spec.matchingPrecedence || usualPrecedence } };
}

/** Which requests have which priority. */
export const flowSchemaKind = defineKind<FlowSchema>({
  group: 'flowcontrol.apiserver',
  version: 'v1',
  kind: 'FlowSchema',
  doc: 'Which requests are of which priority level. Nothing here follows it.',
  resource: 'flowschemas',
  singular: 'flowschema',
  namespaced: false,
  root: flowSchemaRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  default: withDefaults,
  warnings: () => [unused],
  validate: flowSchemaCauses,
  columns: [
    textColumn(
      'PriorityLevel',
      0,
      'The level of the requests.',
      ({ spec }) => spec?.priorityLevelConfiguration?.name ?? '',
    ),
    {
      name: 'MatchingPrecedence',
      type: 'integer',
      description: 'Of two that match the lesser counts.',
      priority: 0,
      value: ({ spec }) => spec?.matchingPrecedence ?? 0,
    },
    textColumn(
      'DistinguisherMethod',
      0,
      'What tells the flows from each other.',
      ({ spec }) => spec?.distinguisherMethod?.type ?? '<none>',
    ),
    ageColumn,
    textColumn(
      'MissingPL',
      0,
      'Whether the level is missing.',
      ({ status }) => status?.conditions?.find(({ type }) => type === 'Dangling')?.status ?? '?',
    ),
  ],
});
