import { isDeepStrictEqual } from 'node:util';
import { checkCidr, familyOfCidr } from '../addresses.ts';
import { causesOf, invalidUnless, invalidValue, requiredValue } from '../cause.ts';
import { ageColumn, textColumn } from '../columns.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { statusPart } from '../workloads/display.ts';
import type { ServiceCIDR } from './description.ts';
import { serviceCIDRRoot } from './description.ts';

function validate({ spec }: ServiceCIDR, old: ServiceCIDR | undefined): Cause[] {
  const ranges = spec?.cidrs ?? [];
  const field = 'spec.cidrs';
  const wrong = causesOf(ranges, (range, index) =>
    invalidUnless(`${field}[${index}]`, range, checkCidr(range)),
  );
  const families = wrong.length > 0 ? [] : ranges.map(familyOfCidr);
  const isSame = old === undefined || isDeepStrictEqual(ranges, old.spec?.cidrs ?? []);
  return [
    ...(ranges.length === 0 ? [requiredValue(field, 'at least one CIDR required')] : []),
    ...(ranges.length > 2
      ? [invalidValue(field, ranges, 'may only hold up to 2 values')]
      : families.length === 2 && families[0] === families[1]
        ? [
            invalidValue(
              field,
              ranges,
              'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
            ),
          ]
        : []),
    ...wrong,
    ...(isSame ? [] : [invalidValue(field, ranges, 'field is immutable')]),
  ];
}

/** A range of addresses for services. */
export const serviceCIDRKind = defineKind<ServiceCIDR>({
  group: 'networking',
  version: 'v1',
  kind: 'ServiceCIDR',
  doc: 'A range of addresses for services; here only what the server is started with counts.',
  resource: 'servicecidrs',
  singular: 'servicecidr',
  namespaced: false,
  root: serviceCIDRRoot,
  subresources: [statusPart],
  prepare: (next, old) => (old === undefined ? { ...next, status: {} } : next),
  validate,
  columns: [textColumn('CIDRs', 0, 'The ranges.', ({ spec }) => (spec?.cidrs ?? []).join(',')), ageColumn],
});
