import { isDeepStrictEqual } from 'node:util';
import { invalidValue, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { notNegative } from '../pod-validation/formats.ts';
import type { ControllerRevision } from './apps-description.ts';
import { controllerRevisionRoot } from './apps-description.ts';

function validate({ data, revision }: ControllerRevision, old: ControllerRevision | undefined): Cause[] {
  const isChanged = old !== undefined && !isDeepStrictEqual(data, old.data);
  return [
    ...notNegative('revision', revision),
    ...(old === undefined ? dataCauses(data) : []),
    ...(isChanged ? [invalidValue('data', data, 'field is immutable')] : []),
  ];
}

function dataCauses(data: ControllerRevision['data']): Cause[] {
  if (data === undefined || data === null) return [requiredValue('data', 'data is mandatory')];
  return typeof data === 'object' && !Array.isArray(data)
    ? []
    : [requiredValue('data', 'data must be a valid JSON object')];
}

function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller);
  if (owner === undefined) return '<none>';
  const group = owner.apiVersion.includes('/') ? owner.apiVersion.split('/', 1)[0] : '';
  return `${owner.kind.toLowerCase()}${group ? `.${group}` : ''}/${owner.name}`;
}

/** An earlier state of an object, kept by the controller that can go back to it. */
export const controllerRevisionKind = defineKind<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  kind: 'ControllerRevision',
  doc: 'An earlier state of an object, kept by its controller, which can go back to it.',
  resource: 'controllerrevisions',
  singular: 'controllerrevision',
  namespaced: true,
  root: controllerRevisionRoot,
  validate,
  columns: [
    textColumn('Controller', 0, 'Whose state it is.', controllerOf),
    textColumn('Revision', 0, 'Its number.', ({ revision = 0 }) => String(revision)),
    ageColumn,
  ],
});
