import { tell } from './story.ts';
import { clusterRole, configMap, csiNode, node, pod } from './subjects.ts';

const ready = '{type: Ready, status: "True"}';

await tell('a list whose items have a key', node, {
  'is owned item by item: both add to it': [
    { by: 'A', applies: '{}' },
    { by: 'A', through: 'status', applies: `status: {conditions: [${ready}]}` },
    {
      by: 'B',
      through: 'status',
      applies: 'status: {conditions: [{type: DiskPressure, status: "False"}]}',
      ends: 'changed',
      object: `status: {conditions: [${ready}, {type: DiskPressure, status: "False"}]}`,
      owners: {
        'A through status': ['.status.conditions[type=Ready].status', '.status.conditions[type=Ready].type'],
        'B through status': [
          '.status.conditions[type=DiskPressure].status',
          '.status.conditions[type=DiskPressure].type',
        ],
      },
    },
  ],
  'and an item field by field: B adds a reason to A’s': [
    { by: 'A', applies: '{}' },
    { by: 'A', through: 'status', applies: `status: {conditions: [${ready}]}` },
    {
      by: 'B',
      through: 'status',
      applies: 'status: {conditions: [{type: Ready, reason: Works}]}',
      object: 'status: {conditions: [{type: Ready, status: "True", reason: Works}]}',
      owners: {
        'A through status': ['.status.conditions[type=Ready].status', '.status.conditions[type=Ready].type'],
        'B through status': ['.status.conditions[type=Ready].reason', '.status.conditions[type=Ready].type'],
      },
    },
  ],
  'a conflict tells which item': [
    { by: 'A', applies: '{}' },
    { by: 'A', through: 'status', applies: `status: {conditions: [${ready}]}` },
    {
      by: 'B',
      through: 'status',
      applies: 'status: {conditions: [{type: Ready, status: "False"}]}',
      ends: 'refused',
      naming: ['"A" with subresource "status"', '.status.conditions[type="Ready"].status'],
    },
  ],
  'an item goes with the last who wants it': [
    { by: 'A', applies: '{}' },
    { by: 'A', through: 'status', applies: `status: {conditions: [${ready}]}` },
    { by: 'B', through: 'status', applies: 'status: {conditions: [{type: Ready, reason: Works}]}' },
    { by: 'B', through: 'status', applies: 'status: {}', object: `status: {conditions: [${ready}]}` },
    { by: 'A', through: 'status', applies: 'status: {}', object: 'status: {}' },
  ],
  'is put in the order in which it is applied': [
    { by: 'A', applies: '{}' },
    {
      by: 'A',
      through: 'status',
      applies: 'status: {addresses: [{type: Hostname, address: a}, {type: InternalIP, address: 10.0.0.1}]}',
    },
    {
      by: 'A',
      through: 'status',
      applies: 'status: {addresses: [{type: InternalIP, address: 10.0.0.1}, {type: Hostname, address: a}]}',
      ends: 'changed',
      object: 'status: {addresses: [{type: InternalIP, address: 10.0.0.1}, {type: Hostname, address: a}]}',
    },
  ],
  'has each key once': [
    { by: 'A', applies: '{}' },
    {
      by: 'A',
      through: 'status',
      applies: `status: {conditions: [${ready}, ${ready}]}`,
      ends: 'invalid',
      naming: ['.status.conditions: duplicate entries for key [type="Ready"]'],
    },
  ],
});

await tell('a list whose items have several keys', pod, {
  'takes a default for the key that is left out': [
    {
      by: 'A',
      applies: 'spec: {containers: [{name: web, image: "nginx:1", ports: [{containerPort: 53}]}]}',
      ends: 'created',
      owners: {
        A: [
          '.spec.containers[name=web].image',
          '.spec.containers[name=web].name',
          '.spec.containers[name=web].ports[containerPort=53,protocol=TCP].containerPort',
        ],
      },
    },
  ],
  'tells items apart by all of them': [
    {
      by: 'A',
      applies:
        'spec: {containers: [{name: dns, image: "dns:1", ports: [{containerPort: 53, protocol: TCP}, {containerPort: 53, protocol: UDP}]}]}',
      ends: 'created',
    },
  ],
  'lets A change the image, and B not': [
    { by: 'A', applies: 'spec: {containers: [{name: web, image: "nginx:1"}]}' },
    { by: 'A', applies: 'spec: {containers: [{name: web, image: "nginx:2"}]}', ends: 'changed' },
    {
      by: 'B',
      applies: 'spec: {containers: [{name: web, image: "nginx:3"}]}',
      ends: 'refused',
      naming: ['.spec.containers[name="web"].image'],
    },
  ],
});

await tell('a list whose items cannot do without a field', csiNode, {
  'is refused when an item of it is left without': [
    { by: 'A', applies: 'spec: {drivers: [{name: disk.example.com, nodeID: n1}]}', ends: 'created' },
    {
      by: 'B',
      applies: 'spec: {drivers: [{name: net.example.com}]}',
      ends: 'invalid',
      naming: ['spec.drivers[1].nodeID: Required value'],
    },
  ],
});

await tell('a set', configMap, {
  'is owned member by member': [
    { by: 'A', applies: 'metadata: {finalizers: [example.com/a]}' },
    {
      by: 'B',
      applies: 'metadata: {finalizers: [example.com/b]}',
      object: 'metadata: {finalizers: [example.com/a, example.com/b]}',
      owners: {
        A: ['.metadata.finalizers[example.com/a]'],
        B: ['.metadata.finalizers[example.com/b]'],
      },
    },
    { by: 'A', applies: '{}', object: 'metadata: {finalizers: [example.com/b]}' },
  ],
  'keeps a member that two want until both are done with it': [
    { by: 'A', applies: 'metadata: {finalizers: [example.com/a]}' },
    { by: 'B', applies: 'metadata: {finalizers: [example.com/a]}' },
    { by: 'A', applies: '{}', object: 'metadata: {finalizers: [example.com/a]}' },
    { by: 'B', applies: '{}', object: 'metadata: {finalizers: null}' },
  ],
  'has each member once': [
    {
      by: 'A',
      applies: 'metadata: {finalizers: [example.com/a, example.com/a]}',
      ends: 'invalid',
      naming: ['.metadata.finalizers: duplicate entries for key [="example.com/a"]'],
    },
  ],
});

const read = 'rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]';
const write = 'rules: [{apiGroups: [""], resources: [pods], verbs: [update]}]';

await tell('what is atomic', clusterRole, {
  'has one owner for all that is in it': [{ by: 'A', applies: read, owners: { A: ['.rules'] } }],
  'cannot be changed in part': [
    { by: 'A', applies: read },
    { by: 'B', applies: write, ends: 'refused', naming: ['.rules conflict with "A"'] },
  ],
  'is replaced as a whole by force': [
    { by: 'A', applies: read },
    { by: 'B', applies: write, force: true, object: write, owners: { B: ['.rules'] } },
  ],
  'can be shared by those who want exactly the same': [
    { by: 'A', applies: read },
    { by: 'B', applies: read, owners: { A: ['.rules'], B: ['.rules'] } },
  ],
  'goes as a whole': [
    { by: 'A', applies: read },
    { by: 'A', applies: '{}', object: 'rules: null' },
  ],
  'is taken from its owner by an empty list, too': [
    { by: 'A', applies: read },
    { by: 'B', applies: 'rules: []', ends: 'refused', naming: ['.rules conflict with "A"'] },
    { by: 'B', applies: 'rules: []', force: true, object: 'rules: null', owners: { B: ['.rules'] } },
  ],
});
