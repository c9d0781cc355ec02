import type { Infer } from '../../schema/index.ts';
import { bool, field, list } from '../../schema/index.ts';
import { tokenRequest } from '../authentication/token-request.ts';
import { ageColumn } from '../columns.ts';
import { defineKind, objectStruct } from '../define.ts';
import { localObjectReference, objectReference } from './object-reference.ts';

const root = objectStruct('ServiceAccount', {
  secrets: field(
    2,
    list(objectReference, { list: 'map', keys: ['name'], patch: { merge: true, key: 'name' } }),
    'Secrets that pods of the account may use.',
  ),
  imagePullSecrets: field(3, list(localObjectReference), 'Secrets to pull images with.'),
  automountServiceAccountToken: field(4, bool, 'Whether pods get a token of the account by themselves.', {
    pointer: true,
  }),
});

/** An identity for programs in the cluster. */
export interface ServiceAccount extends Infer<typeof root> {}

/** Keeps only the names of Secrets; they are in the same namespace. */
function withNamesOnly(account: ServiceAccount): ServiceAccount {
  if (account.secrets === undefined) return account;
  return { ...account, secrets: account.secrets.map(({ name }) => (name === undefined ? {} : { name })) };
}

export const serviceAccountKind = defineKind<ServiceAccount>({
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  doc: 'An identity for what runs in pods.',
  resource: 'serviceaccounts',
  singular: 'serviceaccount',
  shortNames: ['sa'],
  namespaced: true,
  root,
  subresources: [{ name: 'token', verbs: ['create'], fields: [], body: tokenRequest }],
  prepare: withNamesOnly,
  columns: [
    {
      name: 'Secrets',
      type: 'string',
      description: 'Number of Secrets.',
      priority: 0,
      value: ({ secrets = [] }) => secrets.length,
    },
    ageColumn,
  ],
});
