/** Pods of any shape, and containers that behave in any way: for models of what an agent does with them. */
import type { Pod } from '../../src/api/index.ts';
import type { Random } from './repetition.ts';
import type { Behaviour } from './simulated-runtime-state.ts';

type PodSpec = NonNullable<Pod['spec']>;
type Container = PodSpec['containers'][number];

export const pick = <T>(random: Random, values: readonly [T, ...T[]]): T =>
  values[Math.floor(random() * values.length)] ?? values[0];

export const exitCodes = [0, 0, 1, 2, 42, 137] as const;

/**
 * Names say what containers do once all is calm: `init…` and `job…` end with 0, `web…`, `side…` (sidecars) and `debug`
 * (ephemeral) run on.
 */
export function randomPodSpec(random: Random): PodSpec {
  const restartPolicy = pick(random, ['Always', 'OnFailure', 'Never'] as const);
  const inits = Array.from({ length: Math.floor(random() * 4) }, (_, index) => randomInit(random, index));
  const regular = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) =>
    randomContainer(random, restartPolicy !== 'Always' && random() < 0.7 ? `job${index}` : `web${index}`),
  );
  const ephemeral = random() < 0.2 ? [{ name: 'debug', image: 'app:1' }] : [];
  const deadline = random() < 0.05 ? { activeDeadlineSeconds: 60 } : {};
  return {
    restartPolicy,
    initContainers: inits,
    containers: regular,
    ephemeralContainers: ephemeral,
    terminationGracePeriodSeconds: 10,
    ...deadline,
  };
}

function randomInit(random: Random, index: number): Container {
  if (random() < 0.5) {
    const init = randomContainer(random, `init${index}`);
    // with Always it would be a sidecar
    return init.restartPolicy === 'Always' ? { ...init, restartPolicy: 'OnFailure' } : init;
  }
  const probe = random() < 0.5 ? { startupProbe: {} } : {};
  return { ...probe, name: `side${index}`, image: 'app:1', restartPolicy: 'Always' };
}

function randomContainer(random: Random, name: string): Container {
  const dice = random();
  if (dice < 0.6) return { name, image: 'app:1' };
  const action = dice < 0.8 ? 'Restart' : 'RestartAllContainers';
  const operator = random() < 0.8 ? 'In' : 'NotIn';
  const values = operator === 'In' ? [42] : [0, 1, 2, 137, 143, 128, 255];
  const rules = [{ action, exitCodes: { operator, values } }];
  return {
    name,
    image: 'app:1',
    restartPolicy: pick(random, ['Always', 'OnFailure', 'Never'] as const),
    restartPolicyRules: rules,
  };
}

/** How one run of a container of that name goes before all is calm. */
export function randomBehaviour(random: Random, name: string): Behaviour {
  const isInit = name.startsWith('init');
  const obeysAfterMs = pick(random, [0, 0, 500, 'never'] as const);
  const isShort = isInit || random() < 0.3;
  if (!isShort) return { obeysAfterMs };
  const startError = random() < 0.03 ? { startError: 'no such command' } : {};
  return {
    exitAfterMs: random() * 8000,
    exitCode: isInit && random() < 0.7 ? 0 : pick(random, exitCodes),
    obeysAfterMs,
    ...startError,
  };
}

export function calmBehaviour(name: string): Behaviour {
  return name.startsWith('init') || name.startsWith('job') ? { exitAfterMs: 1000 } : {};
}
