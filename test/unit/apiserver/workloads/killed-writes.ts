import type { Pod } from '../../../../src/api/index.ts';
import {
  controllerRevisionKind,
  daemonSetKind,
  persistentVolumeClaimKind,
  podKind,
  statefulSetKind,
} from '../../../../src/api/index.ts';
import type { Registry, Resource } from '../../../../src/apiserver/registry/index.ts';
import { context } from './world.ts';

/** Called before a write of a controller to a pod; may throw where it is wrong. */
export interface PodWrites {
  onCreate(pod: Pod): void;
  onDelete(name: string): void;
}

/** The controllers are killed between two writes: after `left` more of theirs, each fails. The test's own are never counted. */
export class KilledWrites {
  left = Number.POSITIVE_INFINITY;
  /** What was wrong, for writes of which the controllers see no difference. */
  readonly wrong: unknown[] = [];

  constructor(registry: Registry, { onCreate, onDelete }: PodWrites) {
    const pods = registry.of(podKind);
    this.#look(pods, onCreate, onDelete);
    const kinds = [controllerRevisionKind, daemonSetKind, persistentVolumeClaimKind, statefulSetKind];
    for (const resource of [...kinds.map((kind) => registry.of(kind)), pods])
      for (const method of ['create', 'delete', 'change', 'changeMetadata']) this.#limit(resource, method);
  }

  #look(pods: Resource<Pod>, onCreate: PodWrites['onCreate'], onDelete: PodWrites['onDelete']): void {
    const create = pods.create.bind(pods);
    pods.create = async (namespace, pod, by) => {
      if (by !== context) this.#check(() => onCreate(pod));
      return await create(namespace, pod, by);
    };
    const remove = pods.delete.bind(pods);
    pods.delete = async (namespace, name, deletion, by) => {
      if (by !== context) this.#check(() => onDelete(name));
      return await remove(namespace, name, deletion, by);
    };
  }

  #check(look: () => void): void {
    try {
      look();
    } catch (error) {
      this.wrong.push(error);
    }
  }

  #limit(resource: object, method: string): void {
    const write: unknown = Reflect.get(resource, method);
    if (typeof write !== 'function') throw new Error(`there is no ${method}`);
    Reflect.set(resource, method, async (...given: unknown[]) => {
      if (given.at(-1) !== context && this.left-- <= 0) throw new Error('the controller was killed');
      return await Reflect.apply(write, resource, given);
    });
  }
}
