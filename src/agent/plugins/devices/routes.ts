import type { AgentRoute } from '../../server/index.ts';
import { sendJson } from '../../server/index.ts';
import type { Attachment } from './attachment.ts';
import type { DeviceManager } from './manager.ts';
import type { DeviceResource } from './types.ts';

/** The group and version of the response, which are this program's own. */
const apiVersion = 'devices.nodeward.io/v1';

/** The user of each device, as far as known: `namespace/pod/container` by resource and device. */
export type DeviceUsers = () => ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface DeviceRoutesOptions {
  readonly manager: Pick<DeviceManager, 'inventory' | 'attachment'>;
  readonly users?: DeviceUsers | undefined;
  /** The reasons why plugins cannot register. */
  readonly problems?: (() => readonly string[]) | undefined;
}

/** `GET /devices`: each resource with its plugin and its devices, for clients that may get `nodes/devices`. */
export function deviceRoutes({
  manager,
  users = noUsers,
  problems = () => [],
}: DeviceRoutesOptions): readonly AgentRoute[] {
  return [
    {
      path: '/devices',
      subresource: 'devices',
      methods: {
        GET: ({ reply }) => {
          const usedBy = users();
          const items = [...manager.inventory.resources().values()]
            .sort((a, b) => (a.name < b.name ? -1 : 1))
            .map((resource) =>
              toResourceItem(resource, manager.attachment(resource.name), usedBy.get(resource.name)),
            );
          return sendJson(reply, 200, {
            apiVersion,
            kind: 'DeviceResourceList',
            problems: problems(),
            items,
          });
        },
      },
    },
  ];
}

const noUsers: DeviceUsers = () => new Map();

function toResourceItem(
  { name, devices, options, plugin }: DeviceResource,
  attachment: Attachment | undefined,
  usedBy: ReadonlyMap<string, string> = new Map(),
) {
  const all = [...devices.values()];
  return {
    resource: name,
    capacity: all.length,
    allocatable: plugin === undefined ? 0 : all.filter(({ healthy }) => healthy).length,
    plugin: toPluginItem(attachment),
    ...options,
    devices: all.map(({ id, healthy, numaNodes }) => {
      const user = usedBy.get(id);
      return { id, healthy, numaNodes, ...(user === undefined ? {} : { usedBy: user }) };
    }),
  };
}

/** A resource known from before the agent's start has no plugin until one registers. */
function toPluginItem(attachment: Attachment | undefined) {
  if (attachment === undefined) return { state: 'away' };
  const { socket, way, state, sinceMs, lastError, remarks } = attachment;
  return {
    state,
    since: new Date(sinceMs).toISOString(),
    socket,
    way,
    ...(lastError === undefined ? {} : { lastError }),
    ...(remarks.length === 0 ? {} : { remarks }),
  };
}
