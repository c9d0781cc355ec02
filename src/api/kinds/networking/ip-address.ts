import { isDeepStrictEqual } from 'node:util';
import { checkName } from '../../names/index.ts';
import { addressOf, checkIP, numberOf } from '../addresses.ts';
import { invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import type { IPAddress } from './description.ts';
import { ipAddressRoot } from './description.ts';

function validate({ metadata, spec }: IPAddress, old: IPAddress | undefined): Cause[] {
  const name = metadata?.name ?? '';
  const parent = spec?.parentRef;
  const field = 'spec.parentRef';
  const isSame = old === undefined || isDeepStrictEqual(parent, old.spec?.parentRef);
  return [
    ...nameCauses(name),
    ...(parent === undefined ? [requiredValue(field)] : []),
    ...(parent !== undefined && !parent.resource ? [requiredValue(`${field}.resource`)] : []),
    ...(parent?.name === undefined || parent.name === ''
      ? parent === undefined
        ? []
        : [requiredValue(`${field}.name`)]
      : invalidUnless(`${field}.name`, parent.name, checkName('pathSegment', parent.name))),
    ...(isSame ? [] : [invalidValue(field, parent, 'field is immutable')]),
  ];
}

/** The name is the address in its usual form, so that no address has two objects. */
function nameCauses(name: string): Cause[] {
  const wrong = checkIP(name);
  if (wrong !== undefined) return [invalidValue('metadata.name', name, wrong)];
  const usual = addressOf(numberOf(name), name.includes(':') ? 6 : 4);
  return name === usual
    ? []
    : [invalidValue('metadata.name', name, `must be in canonical form (${JSON.stringify(usual)})`)];
}

/** An address that a service has. */
export const ipAddressKind = defineKind<IPAddress>({
  group: 'networking',
  version: 'v1',
  kind: 'IPAddress',
  doc: 'An address of the cluster, and what has it; here it is only stored.',
  resource: 'ipaddresses',
  singular: 'ipaddress',
  shortNames: ['ip'],
  namespaced: false,
  nameRule: 'pathSegment',
  root: ipAddressRoot,
  validate,
  columns: [
    textColumn('ParentRef', 0, 'What has the address.', ({ spec }) => {
      const { group = '', resource = '', namespace, name = '' } = spec?.parentRef ?? {};
      const kind = group === '' ? resource : `${resource}.${group}`;
      return [kind, ...(namespace ? [namespace] : []), name].join('/');
    }),
    ageColumn,
  ],
});
