import { checkName, checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  tooManyItems,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelName } from '../pod-validation/formats.ts';
import type { DeviceRequest, DeviceSelector, ResourceClaimSpec } from './description.ts';
import { settingsField } from './description.ts';

/* What claims, their templates and classes of devices have in common. */

const requestsLimit = 32;
const selectorsLimit = 32;
const expressionLimit = 10 * 1024;

/** The causes why what a claim asks for is invalid. */
export function claimSpecCauses({ devices = {} }: ResourceClaimSpec, path: string): Cause[] {
  const { requests = [], constraints = [], config = [] } = devices;
  const names = requests.map(({ name }) => name);
  const field = `${path}.devices`;
  return [
    ...limited(`${field}.requests`, requests, requestsLimit),
    ...causesOf(requests, (request, index) => [
      ...(names.indexOf(request.name) < index
        ? [duplicateValue(`${field}.requests[${index}].name`, request.name)]
        : []),
      ...requestCauses(request, `${field}.requests[${index}]`),
    ]),
    ...limited(`${field}.constraints`, constraints, requestsLimit),
    ...causesOf(constraints, ({ requests: of = [] }, index) =>
      unknownRequests(of, requests, `${field}.constraints[${index}].requests`),
    ),
    ...limited(`${field}.config`, config, requestsLimit),
    ...causesOf(config, (entry, index) => [
      ...unknownRequests(entry.requests ?? [], requests, `${field}.config[${index}].requests`),
      ...settingsCauses(entry[settingsField], `${field}.config[${index}].${settingsField}`),
    ]),
  ];
}

function limited(field: string, items: readonly unknown[], limit: number): Cause[] {
  return items.length > limit ? [tooManyItems(field, items.length, limit)] : [];
}

function requestCauses({ name, exactly, firstAvailable = [] }: DeviceRequest, field: string): Cause[] {
  const one = 'exactly one of `exactly` or `firstAvailable` is required';
  const both = exactly !== undefined && firstAvailable.length > 0;
  return [
    ...labelName(`${field}.name`, name),
    ...(exactly === undefined && firstAvailable.length === 0 ? [requiredValue(field, one)] : []),
    ...(both ? [invalidValue(field, null, one)] : []),
    ...(exactly === undefined ? [] : deviceCauses(exactly, `${field}.exactly`)),
    ...causesOf(firstAvailable, (request, index) => [
      ...labelName(`${field}.firstAvailable[${index}].name`, request.name),
      ...deviceCauses(request, `${field}.firstAvailable[${index}]`),
    ]),
  ];
}

interface Wanted {
  deviceClassName: string;
  allocationMode?: string;
  count?: number;
  selectors?: DeviceSelector[];
}

function deviceCauses(
  { deviceClassName, allocationMode: mode, count = 0, selectors }: Wanted,
  field: string,
): Cause[] {
  const modes = ['All', 'ExactCount'];
  return [
    ...(deviceClassName === ''
      ? [requiredValue(`${field}.deviceClassName`)]
      : invalidUnless(`${field}.deviceClassName`, deviceClassName, checkName('subdomain', deviceClassName))),
    ...(mode === undefined || modes.includes(mode)
      ? []
      : [unsupportedValue(`${field}.allocationMode`, mode, modes)]),
    ...(mode === 'ExactCount' && count <= 0
      ? [invalidValue(`${field}.count`, count, 'must be greater than zero')]
      : []),
    ...(mode === 'All' && count !== 0
      ? [invalidValue(`${field}.count`, count, "must not be specified when allocationMode is 'All'")]
      : []),
    ...selectorsCauses(selectors, `${field}.selectors`),
  ];
}

/** The causes why conditions on devices are invalid; whether an expression is one in CEL is found out where it is used. */
export function selectorsCauses(selectors: readonly DeviceSelector[] = [], field: string): Cause[] {
  return [
    ...limited(field, selectors, selectorsLimit),
    ...causesOf(selectors, ({ cel }, index) => {
      if (cel === undefined) return [requiredValue(`${field}[${index}].cel`)];
      const at = `${field}[${index}].cel.expression`;
      if (cel.expression === '') return [requiredValue(at)];
      const isLong = Buffer.byteLength(cel.expression) > expressionLimit;
      return isLong
        ? [
            {
              reason: 'FieldValueTooLong',
              field: at,
              message: `Too long: may not be more than ${expressionLimit} bytes`,
            },
          ]
        : [];
    }),
  ];
}

function unknownRequests(
  names: readonly string[],
  requests: readonly DeviceRequest[],
  field: string,
): Cause[] {
  const known = new Set(
    requests.flatMap(({ name, firstAvailable = [] }) => [
      name,
      ...firstAvailable.map((sub) => `${name}/${sub.name}`),
    ]),
  );
  return causesOf(names, (name, index) => [
    ...(names.indexOf(name) < index ? [duplicateValue(`${field}[${index}]`, name)] : []),
    ...(known.has(name)
      ? []
      : [
          invalidValue(
            `${field}[${index}]`,
            name,
            "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'",
          ),
        ]),
  ]);
}

/** The causes why settings for a driver are invalid. */
export function settingsCauses(
  settings: { driver: string; parameters: unknown } | undefined,
  field: string,
): Cause[] {
  if (settings === undefined) return [requiredValue(field, 'one of the configuration kinds must be set')];
  const { driver, parameters } = settings;
  const isObject = typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  return [
    ...driverCauses(driver, `${field}.driver`),
    ...(parameters === undefined || isObject
      ? []
      : [invalidValue(`${field}.parameters`, parameters, 'must be a valid JSON object')]),
  ];
}

/** The causes why the name of a driver is invalid. */
export function driverCauses(driver: string, field: string): Cause[] {
  if (driver === '') return [requiredValue(field)];
  return driver.length > 63
    ? [invalidValue(field, driver, 'must be no more than 63 characters')]
    : invalidUnless(field, driver, checkName('subdomain', driver));
}

/** The causes why the name of an attribute or capacity is invalid. */
export function qualifiedCauses(name: string, field: string): Cause[] {
  return invalidUnless(field, name, checkQualifiedName(name));
}
