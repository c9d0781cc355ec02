import { checkLabelValue, checkQualifiedName } from '../../names/index.ts';
import {
  causesOf,
  duplicateValue,
  invalidUnless,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../cause.ts';
import type { Cause } from '../kind.ts';
import { labelSelectorCauses } from '../meta/label-selector.ts';
import type { PodSpec, Toleration, TopologySpreadConstraint } from '../pods/types.ts';
import { oneOf, oneOfIfSet } from './formats.ts';
import { labelKeysCauses } from './validate-affinity.ts';

/* Tolerations, spreading and gates. */

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function tolerationCauses(tolerations: readonly Toleration[] | undefined, path: string): Cause[] {
  return causesOf(tolerations, (toleration, index) => {
    const at = `${path}[${index}]`;
    const { key = '', operator = '', effect = '', tolerationSeconds } = toleration;
    const allKeys =
      'operator must be Exists when `key` is empty, which means "match all values and all keys"';
    const forExecute = "effect must be 'NoExecute' when `tolerationSeconds` is set";
    return [
      ...(key === '' ? [] : invalidUnless(`${at}.key`, key, checkQualifiedName(key))),
      ...(key === '' && operator !== 'Exists' ? [invalidValue(`${at}.operator`, operator, allKeys)] : []),
      ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
        ? [invalidValue(`${at}.effect`, effect, forExecute)]
        : []),
      ...operatorCauses(toleration, `${at}.operator`),
      ...(effect === '' ? [] : oneOf(`${at}.effect`, effect, effects)),
    ];
  });
}

function operatorCauses({ operator = '', value = '' }: Toleration, field: string): Cause[] {
  if (operator === '' || operator === 'Equal') return invalidUnless(field, value, checkLabelValue(value));
  if (operator !== 'Exists') return [unsupportedValue(field, operator, ['Equal', 'Exists'])];
  const wrong = "value must be empty when `operator` is 'Exists'";
  return value === '' ? [] : [invalidValue(field, value, wrong)];
}

export function spreadCauses(
  constraints: readonly TopologySpreadConstraint[] | undefined,
  path: string,
): Cause[] {
  const earlier = new Set<string>();
  return causesOf(constraints, (constraint, index) => {
    const at = `${path}[${index}]`;
    const { topologyKey, whenUnsatisfiable } = constraint;
    const pair = `{${topologyKey}, ${whenUnsatisfiable}}`;
    const again = earlier.has(pair);
    earlier.add(pair);
    return [
      ...countCauses(constraint, at),
      ...(topologyKey === ''
        ? [requiredValue(`${at}.topologyKey`, 'can not be empty')]
        : invalidUnless(`${at}.topologyKey`, topologyKey, checkQualifiedName(topologyKey))),
      ...oneOf(`${at}.whenUnsatisfiable`, whenUnsatisfiable, ['DoNotSchedule', 'ScheduleAnyway']),
      ...(again ? [duplicateValue(`${at}.{topologyKey, whenUnsatisfiable}`, pair)] : []),
      ...oneOfIfSet(`${at}.nodeAffinityPolicy`, constraint.nodeAffinityPolicy, ['Honor', 'Ignore']),
      ...oneOfIfSet(`${at}.nodeTaintsPolicy`, constraint.nodeTaintsPolicy, ['Honor', 'Ignore']),
      ...labelSelectorCauses(constraint.labelSelector, `${at}.labelSelector`),
      ...labelKeysCauses(constraint.matchLabelKeys, constraint.labelSelector, `${at}.matchLabelKeys`),
    ];
  });
}

function countCauses(constraint: TopologySpreadConstraint, at: string): Cause[] {
  const { maxSkew, minDomains, whenUnsatisfiable } = constraint;
  const only = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`;
  return [
    ...(maxSkew > 0 ? [] : [invalidValue(`${at}.maxSkew`, maxSkew, 'must be greater than zero')]),
    ...(minDomains === undefined || minDomains > 0
      ? []
      : [invalidValue(`${at}.minDomains`, minDomains, 'must be greater than zero')]),
    ...(minDomains !== undefined && whenUnsatisfiable !== 'DoNotSchedule'
      ? [invalidValue(`${at}.minDomains`, minDomains, only)]
      : []),
  ];
}

export function gateCauses({ readinessGates, schedulingGates }: PodSpec, path: string): Cause[] {
  const earlier = new Set<string>();
  return [
    ...causesOf(readinessGates, ({ conditionType }, index) =>
      invalidUnless(
        `${path}.readinessGates[${index}].conditionType`,
        conditionType,
        checkQualifiedName(conditionType),
      ),
    ),
    ...causesOf(schedulingGates, ({ name }, index) => {
      const at = `${path}.schedulingGates[${index}]`;
      const again = earlier.has(name);
      earlier.add(name);
      return [
        ...invalidUnless(at, name, checkQualifiedName(name)),
        ...(again ? [duplicateValue(at, name)] : []),
      ];
    }),
  ];
}
