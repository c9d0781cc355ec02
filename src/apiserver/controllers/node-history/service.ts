import type { Node } from '../../../api/index.ts';
import { configMapKind, nodeKind } from '../../../api/index.ts';
import type { Service } from '../../../base/index.ts';
import { controlPlaneUser } from '../../authn/index.ts';
import { followWritten } from '../../registry/index.ts';
import type { ControllerOptions } from '../controller.ts';
import { controller } from '../controller.ts';
import { isUnreadable } from '../presence.ts';
import type { Transition } from './record.ts';
import {
  findTransitions,
  historyNameOf,
  lastOfEach,
  historyNamespace as namespace,
  parseHistory,
  toData,
  trimHistory,
} from './record.ts';

const context = { user: controlPlaneUser, dryRun: false };

/**
 * Keeps the history of every node. There is none for a node until one of its conditions has changed; it goes with the
 * Node. Changes of one node that come while an earlier one is written are one.
 */
export function nodeHistory(options: ControllerOptions): Service {
  const { registry, storage, clock } = options;
  const nodes = registry.of(nodeKind);
  const maps = registry.of(configMapKind);

  function readHistory(name: string): Transition[] | undefined {
    const stored = storage.get(maps.prefix(namespace) + historyNameOf(name));
    return stored && parseHistory(maps.encoding.read(stored));
  }

  async function write(node: Node, history: readonly Transition[], isNew: boolean): Promise<void> {
    const { name = '', uid = '' } = node.metadata ?? {};
    const owner = { apiVersion: 'v1', kind: 'Node', name, uid };
    const metadata = { name: historyNameOf(name), namespace, ownerReferences: [owner] };
    const map = { metadata, data: toData(trimHistory(history, clock.now())) };
    if (isNew) await maps.create(namespace, map, context);
    else await maps.update(namespace, metadata.name, map, '', context);
  }

  return controller('node-history', options, (enqueue) => {
    /** Of nodes without a history: the conditions as they were first seen. */
    const first = new Map<string, Transition[]>();
    return {
      follows: [
        {
          resource: nodes,
          ...followWritten((key) => enqueue(nodes.placeOf(key).name)),
          gone: ({ key }) => enqueue(nodes.placeOf(key).name),
        },
      ],
      async work(name) {
        const stored = storage.get(nodes.prefix('') + name);
        if (stored === undefined) return void first.delete(name);
        const node = nodes.encoding.read(stored);
        if (isUnreadable(storage, maps.prefix(namespace) + historyNameOf(name))) return;
        const history = readHistory(name);
        const before = history ?? first.get(name) ?? [];
        const changes = findTransitions(lastOfEach(before), node, clock.now());
        if (changes.length === 0) return;
        if (history === undefined && !first.has(name)) return void first.set(name, changes);
        await write(node, [...before, ...changes], history === undefined);
        first.delete(name);
      },
    };
  });
}
