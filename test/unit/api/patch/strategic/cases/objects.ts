import type { Rule } from './case.ts';

export const objects: readonly Rule[] = [
  {
    rule: 'an object is merged member by member',
    cases: [
      {
        name: 'an empty patch changes nothing',
        given: { metadata: { name: 'web', labels: { app: 'web' } } },
        patch: {},
        gives: { metadata: { name: 'web', labels: { app: 'web' } } },
      },
      {
        name: 'what the patch does not name stays',
        given: { spec: { nodeName: 'n1', hostNetwork: true } },
        patch: { spec: { nodeName: 'n2' } },
        gives: { spec: { nodeName: 'n2', hostNetwork: true } },
      },
      {
        name: 'a new member is added',
        given: { spec: { nodeName: 'n1' } },
        patch: { spec: { hostname: 'web' } },
        gives: { spec: { nodeName: 'n1', hostname: 'web' } },
      },
      {
        name: 'an object inside an object is merged too',
        given: { spec: { securityContext: { runAsUser: 1, fsGroup: 2 } } },
        patch: { spec: { securityContext: { runAsUser: 5 } } },
        gives: { spec: { securityContext: { runAsUser: 5, fsGroup: 2 } } },
      },
      {
        name: 'an empty object changes nothing',
        given: { spec: { securityContext: { runAsUser: 1 } } },
        patch: { spec: { securityContext: {} } },
        gives: { spec: { securityContext: { runAsUser: 1 } } },
      },
      {
        name: 'an empty object is added where there was none',
        given: { spec: {} },
        patch: { spec: { securityContext: {} } },
        gives: { spec: { securityContext: {} } },
      },
      {
        name: 'a zero is a value',
        given: { spec: { hostNetwork: true, terminationGracePeriodSeconds: 30, hostname: 'web' } },
        patch: { spec: { hostNetwork: false, terminationGracePeriodSeconds: 0, hostname: '' } },
        gives: { spec: { hostNetwork: false, terminationGracePeriodSeconds: 0, hostname: '' } },
      },
      {
        name: 'a reference that is atomic for apply is merged all the same',
        kind: 'Event',
        given: { involvedObject: { kind: 'Pod', name: 'web', namespace: 'default' } },
        patch: { involvedObject: { name: 'db' } },
        gives: { involvedObject: { kind: 'Pod', name: 'db', namespace: 'default' } },
      },
      {
        name: 'a map that is atomic for apply is merged all the same',
        given: { spec: { nodeSelector: { disk: 'ssd', zone: 'a' } } },
        patch: { spec: { nodeSelector: { zone: 'b' } } },
        gives: { spec: { nodeSelector: { disk: 'ssd', zone: 'b' } } },
      },
      {
        name: 'a quantity in a map is replaced',
        kind: 'Node',
        given: { status: { capacity: { cpu: '4', memory: '8Gi' } } },
        patch: { status: { capacity: { memory: '16Gi' } } },
        gives: { status: { capacity: { cpu: '4', memory: '16Gi' } } },
      },
      {
        name: 'a value of another type replaces; whether it may is for the decoder to say',
        given: { spec: { nodeName: 'n1', securityContext: { runAsUser: 1 } } },
        patch: { spec: { nodeName: 7, securityContext: 'none' } },
        gives: { spec: { nodeName: 7, securityContext: 'none' } },
      },
    ],
  },
  {
    rule: 'a null takes away',
    cases: [
      {
        name: 'a member',
        given: { spec: { nodeName: 'n1', hostname: 'web' } },
        patch: { spec: { hostname: null } },
        gives: { spec: { nodeName: 'n1' } },
      },
      {
        name: 'a label',
        given: { metadata: { labels: { app: 'web', tier: 'front' } } },
        patch: { metadata: { labels: { tier: null } } },
        gives: { metadata: { labels: { app: 'web' } } },
      },
      {
        name: 'the last label, and leaves an empty map',
        given: { metadata: { labels: { app: 'web' } } },
        patch: { metadata: { labels: { app: null } } },
        gives: { metadata: { labels: {} } },
      },
      {
        name: 'a whole object',
        given: { spec: { securityContext: { runAsUser: 1 }, nodeName: 'n1' } },
        patch: { spec: { securityContext: null } },
        gives: { spec: { nodeName: 'n1' } },
      },
      {
        name: 'a whole list that merges otherwise',
        given: { metadata: { name: 'web', finalizers: ['a/b'] } },
        patch: { metadata: { finalizers: null } },
        gives: { metadata: { name: 'web' } },
      },
      {
        name: 'nothing where there is nothing',
        given: { spec: { nodeName: 'n1' } },
        patch: { spec: { hostname: null } },
        gives: { spec: { nodeName: 'n1' } },
      },
      {
        name: 'a field of an item that is merged',
        given: { spec: { containers: [{ name: 'web', image: 'a', tty: true }] } },
        patch: { spec: { containers: [{ name: 'web', tty: null }] } },
        gives: { spec: { containers: [{ name: 'web', image: 'a' }] } },
      },
      {
        name: 'nothing of what is new: nulls in it are dropped, however deep',
        given: { spec: {} },
        patch: { spec: { affinity: { podAffinity: null, nodeAffinity: {} } } },
        gives: { spec: { affinity: { nodeAffinity: {} } } },
      },
      {
        name: 'nothing of a new list: nulls are dropped in its items',
        given: { spec: {} },
        patch: { spec: { tolerations: [{ key: 'a', value: null }] } },
        gives: { spec: { tolerations: [{ key: 'a' }] } },
      },
      {
        name: 'nothing of a list that is replaced: for the decoder it is absent there',
        given: { spec: { tolerations: [{ key: 'b' }] } },
        patch: { spec: { tolerations: [{ key: 'a', value: null }] } },
        gives: { spec: { tolerations: [{ key: 'a', value: null }] } },
      },
    ],
  },
  {
    rule: 'what no description knows is kept, for the decoder to report',
    cases: [
      {
        name: 'an unknown field',
        given: { spec: { nodeName: 'n1' } },
        patch: { spec: { colour: 'red' } },
        gives: { spec: { nodeName: 'n1', colour: 'red' } },
      },
      {
        name: 'an unknown object is merged',
        given: { extra: { a: 1, b: 2 } },
        patch: { extra: { b: 3, c: 4 } },
        gives: { extra: { a: 1, b: 3, c: 4 } },
      },
      {
        name: 'an unknown list is replaced',
        given: { extra: { items: [{ name: 'a' }] } },
        patch: { extra: { items: [{ name: 'b' }] } },
        gives: { extra: { items: [{ name: 'b' }] } },
      },
      {
        name: 'a list as the value of a map is replaced',
        kind: 'CertificateSigningRequest',
        given: { spec: { extra: { scopes: ['read'], teams: ['a'] } } },
        patch: { spec: { extra: { scopes: ['write'] } } },
        gives: { spec: { extra: { scopes: ['write'], teams: ['a'] } } },
      },
      {
        name: 'a name that every JavaScript object has is a name like any other',
        kind: 'ConfigMap',
        given: { data: { constructor: 'a', toString: 'b' } },
        patch: { data: { constructor: 'c', hasOwnProperty: 'd' } },
        gives: { data: { constructor: 'c', toString: 'b', hasOwnProperty: 'd' } },
      },
      {
        name: '__proto__ is a name like any other',
        kind: 'ConfigMap',
        given: { data: JSON.parse('{"__proto__": "a"}') },
        patch: { data: JSON.parse('{"__proto__": "b", "x": "c"}') },
        gives: { data: JSON.parse('{"__proto__": "b", "x": "c"}') },
      },
      {
        name: '__proto__ stays as well as any other',
        kind: 'ConfigMap',
        given: { data: JSON.parse('{"__proto__": "a", "x": "b"}') },
        patch: { data: { x: 'c' } },
        gives: { data: JSON.parse('{"__proto__": "a", "x": "c"}') },
      },
      {
        name: '__proto__ as an object is only added',
        given: { metadata: { name: 'web' } },
        patch: { metadata: JSON.parse('{"__proto__": {"labels": {"a": "b"}}}') },
        gives: { metadata: JSON.parse('{"name": "web", "__proto__": {"labels": {"a": "b"}}}') },
      },
    ],
  },
];
