import type { Kind, Verb } from '../../api/index.ts';
import { groupName, version } from '../../api/index.ts';

/** The documents with which clients find out what is served; all derived from the kinds. */
export interface Discovery {
  /** Documents by path. */
  documents: ReadonlyMap<string, object>;
}

interface GroupVersion {
  group: string;
  version: string;
  kinds: readonly Kind[];
}

/** Makes all discovery documents; `address` is where clients of any network reach the server, host:port. */
export function discovery(kinds: readonly Kind[], groupSuffix: string, address: string): Discovery {
  const documents = new Map<string, object>();
  const groups = groupVersions(kinds, groupSuffix);
  const addresses = [{ clientCIDR: '0.0.0.0/0', serverAddress: address }];
  documents.set('/version', versionDocument());
  documents.set('/api', { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: addresses });
  const named = groups.filter(({ group }) => group !== '').map(groupDocument);
  documents.set('/apis', { kind: 'APIGroupList', apiVersion: 'v1', groups: named });
  for (const entry of groups) {
    const groupVersion = entry.group === '' ? entry.version : `${entry.group}/${entry.version}`;
    const resources = entry.kinds.flatMap(resourceEntries);
    const path = entry.group === '' ? `/api/${entry.version}` : `/apis/${groupVersion}`;
    documents.set(path, { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources });
    if (entry.group !== '') {
      documents.set(`/apis/${entry.group}`, { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(entry) });
    }
  }
  return { documents };
}

function groupVersions(kinds: readonly Kind[], groupSuffix: string): GroupVersion[] {
  const found = new Map<string, { group: string; version: string; kinds: Kind[] }>();
  for (const kind of kinds) {
    const key = `${kind.group}/${kind.version}`;
    const entry = found.get(key) ?? {
      group: groupName(kind.group, groupSuffix),
      version: kind.version,
      kinds: [],
    };
    entry.kinds.push(kind);
    found.set(key, entry);
  }
  return [...found.values()];
}

function groupDocument({ group, version: name }: GroupVersion) {
  const entry = { groupVersion: `${group}/${name}`, version: name };
  return { name: group, versions: [entry], preferredVersion: entry };
}

function resourceEntries(kind: Kind): object[] {
  const own = {
    name: kind.resource,
    singularName: kind.singular,
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: sorted(kind.verbs),
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
  };
  const parts = kind.subresources.map((part) => ({
    name: `${kind.resource}/${part.name}`,
    singularName: '',
    namespaced: kind.namespaced,
    kind: kind.kind,
    verbs: sorted(part.verbs),
  }));
  return [own, ...parts];
}

function sorted(verbs: readonly Verb[]): Verb[] {
  return [...verbs].sort();
}

function versionDocument() {
  return {
    major: version.major,
    minor: version.minor,
    gitVersion: version.gitVersion,
    gitCommit: '',
    gitTreeState: '',
    buildDate: '',
    goVersion: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${architecture()}`,
  };
}

function architecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}
