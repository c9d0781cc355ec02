import { checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  forbiddenValue,
  invalidUnless,
  invalidValue,
  requiredValue,
} from '../cause.ts';
import { defineKind } from '../define.ts';
import type { Cause } from '../kind.ts';
import { billionths } from '../quantity.ts';
import type { LimitRange, LimitRangeItem } from './description.ts';
import { limitRangeRoot } from './description.ts';

type Quantities = Readonly<Record<string, string>>;

/** Of a container, what is said nowhere follows from what is: limits from the most, requests from the limits. */
function withDefaults(range: LimitRange): LimitRange {
  const { spec } = range;
  if (spec?.limits === undefined) return range;
  return { ...range, spec: { ...spec, limits: spec.limits.map(defaultItem) } };
}

function defaultItem(item: LimitRangeItem): LimitRangeItem {
  if (item.type !== 'Container') return item;
  const limits = { ...item.max, ...item.default };
  const requests = { ...item.min, ...limits, ...item.defaultRequest };
  return {
    ...item,
    ...(Object.keys(limits).length === 0 ? {} : { default: limits }),
    ...(Object.keys(requests).length === 0 ? {} : { defaultRequest: requests }),
  };
}

function validate({ spec }: LimitRange): Cause[] {
  const limits = spec?.limits ?? [];
  const types = limits.map(({ type }) => type);
  return causesOf(limits, (item, index) => {
    const field = `spec.limits[${index}]`;
    const isAgain = types.indexOf(item.type) < index;
    return [
      ...typeCauses(item, `${field}.type`),
      ...(isAgain ? [duplicateValue(`${field}.type`, item.type)] : []),
      ...itemCauses(item, field),
    ];
  });
}

const knownTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

function typeCauses({ type }: LimitRangeItem, field: string): Cause[] {
  const wrong = checkQualifiedName(type);
  if (wrong !== undefined) return [invalidValue(field, type, wrong)];
  return knownTypes.includes(type) || type.includes('/')
    ? []
    : [invalidValue(field, type, 'must be a standard limit type or fully qualified')];
}

function itemCauses(item: LimitRangeItem, path: string): Cause[] {
  const {
    type,
    max = {},
    min = {},
    default: limits = {},
    defaultRequest = {},
    maxLimitRequestRatio: ratio = {},
  } = item;
  const forPod = `may not be specified when \`type\` is '${type}'`;
  const isPod = type === 'Pod';
  const forClaim =
    type === 'PersistentVolumeClaim' && min['storage'] === undefined && max['storage'] === undefined;
  const names = new Set([max, min, limits, defaultRequest, ratio].flatMap((each) => Object.keys(each)));
  return [
    ...(isPod && Object.keys(limits).length > 0 ? [forbiddenValue(`${path}.default`, forPod)] : []),
    ...(isPod && Object.keys(defaultRequest).length > 0
      ? [forbiddenValue(`${path}.defaultRequest`, forPod)]
      : []),
    ...(forClaim
      ? [
          requiredValue(
            `${path}.limits`,
            'either minimum or maximum storage value is required, but neither was provided',
          ),
        ]
      : []),
    ...causesOf(names, (name) => [
      ...invalidUnless(`${path}[${name}]`, name, checkQualifiedName(name)),
      ...orderCauses(item, name, path),
      ...ratioCauses(ratio[name], { max, min }, name, `${path}.maxLimitRequestRatio[${name}]`),
    ]),
  ];
}

/** Least, default of the request, default of the limit and most stand in this order. */
function orderCauses(item: LimitRangeItem, name: string, path: string): Cause[] {
  const steps = (['min', 'defaultRequest', 'default', 'max'] as const).flatMap((step) => {
    const value = item[step]?.[name];
    return value === undefined ? [] : [{ step, value }];
  });
  const words = {
    min: 'min value',
    defaultRequest: 'default request value',
    default: 'default value',
    max: 'max value',
  };
  return steps.flatMap((low, index) =>
    steps
      .slice(index + 1)
      .filter((high) => billionths(low.value) > billionths(high.value))
      .map((high) => {
        const detail = `${words[low.step]} ${low.value} is greater than ${words[high.step]} ${high.value}`;
        return invalidValue(`${path}.${low.step}[${name}]`, low.value, detail);
      }),
  );
}

function ratioCauses(
  ratio: string | undefined,
  { max, min }: { max: Quantities; min: Quantities },
  name: string,
  field: string,
): Cause[] {
  if (ratio === undefined) return [];
  if (billionths(ratio) < billionths('1'))
    return [invalidValue(field, ratio, `ratio ${ratio} is less than 1`)];
  const [most, least] = [max[name], min[name]];
  if (most === undefined || least === undefined || billionths(least) === 0n) return [];
  const isTooGreat = billionths(ratio) * billionths(least) > billionths(most) * billionths('1');
  const detail = `ratio ${ratio} is greater than max/min = ${Number(billionths(most)) / Number(billionths(least))}`;
  return isTooGreat ? [invalidValue(field, ratio, detail)] : [];
}

/** The least and most that a single object of a namespace may take. */
export const limitRangeKind = defineKind<LimitRange>({
  group: '',
  version: 'v1',
  kind: 'LimitRange',
  doc: 'The least and the most that a single object of a namespace may take, and what it takes by default.',
  resource: 'limitranges',
  singular: 'limitrange',
  shortNames: ['limits'],
  namespaced: true,
  createOnUpdate: true,
  root: limitRangeRoot,
  default: withDefaults,
  validate,
});
