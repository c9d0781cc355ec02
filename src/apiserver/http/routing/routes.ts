import type { Verb } from '../../../api/index.ts';
import { groupName } from '../../../api/index.ts';
import type { Registry, Resource } from '../../registry/index.ts';

/** One path pattern of a resource with what each method on it means. */
export interface Route {
  resource: Resource;
  /** With `:namespace` and `:name`. */
  pattern: string;
  /** Which of these it has. */
  places: { namespace: boolean; name: boolean };
  subresource: string;
  collection: boolean;
  /** The verb of each method that is served; GET on a collection is `list` or, with the parameter, `watch`. */
  methods: ReadonlyMap<string, Verb>;
}

const itemMethods: readonly [string, Verb][] = [
  ['GET', 'get'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
];
const subresourceMethods: readonly [string, Verb][] = [...itemMethods, ['POST', 'create']];
const collectionMethods: readonly [string, Verb][] = [
  ['GET', 'list'],
  ['POST', 'create'],
  ['DELETE', 'deletecollection'],
];
const allNamespacesMethods: readonly [string, Verb][] = [['GET', 'list']];

/** Every path of the API, derived from the kinds (specification, section 4.3). */
export function routesOf(registry: Registry): Route[] {
  return registry.resources.flatMap((resource) => {
    const { kind } = resource;
    const group = groupName(kind.group, registry.groupSuffix);
    const base = group === '' ? `/api/${kind.version}` : `/apis/${group}/${kind.version}`;
    const own = kind.namespaced
      ? `${base}/namespaces/:namespace/${kind.resource}`
      : `${base}/${kind.resource}`;
    const item = `${own}/:name`;
    const routes: Route[] = [
      route(resource, own, '', true, served(collectionMethods, kind.verbs)),
      route(resource, item, '', false, served(itemMethods, kind.verbs)),
    ];
    if (kind.namespaced) {
      routes.push(
        route(resource, `${base}/${kind.resource}`, '', true, served(allNamespacesMethods, kind.verbs)),
      );
    }
    for (const part of kind.subresources.filter(({ connects }) => !connects)) {
      routes.push(
        route(resource, `${item}/${part.name}`, part.name, false, served(subresourceMethods, part.verbs)),
      );
    }
    return routes.filter(({ methods }) => methods.size > 0);
  });
}

function route(
  resource: Resource,
  pattern: string,
  subresource: string,
  collection: boolean,
  methods: ReadonlyMap<string, Verb>,
): Route {
  const places = { namespace: has(pattern, 'namespace'), name: has(pattern, 'name') };
  return { resource, pattern, places, subresource, collection, methods };
}

function has(pattern: string, place: string): boolean {
  return `${pattern}/`.includes(`/:${place}/`);
}

function served(methods: readonly [string, Verb][], verbs: readonly Verb[]): Map<string, Verb> {
  return new Map(methods.filter(([, verb]) => verbs.includes(verb)));
}
