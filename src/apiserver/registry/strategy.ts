import type { ApiObject, Cause } from '../../api/index.ts';
import type { User } from '../authn/index.ts';

/** Who writes, and how. */
export interface WriteContext {
  user: User;
  /** Do everything but keep the result (specification, section 4.9). */
  dryRun: boolean;
}

/**
 * What a kind does on writes beyond its description, because it needs the server's state or the caller. Any of the
 * hooks may throw a StatusError to refuse the write.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /** Fills in what the server knows, before defaulting and validation. */
  beforeCreate?(object: T, context: WriteContext): T;
  /** Further causes against a new object or a change. */
  check?(next: T, old: T | undefined): readonly Cause[];
  beforeDelete?(object: T): void;
  /** What is stored when a deletion begins and there is something left to finish. */
  onTerminating?(object: T): T;
  /** Whether something other than metadata.finalizers still holds an object that is being deleted. */
  isHeld?(object: T): boolean;
}

/** Refuses a write by who asks (admission); throws a StatusError. */
export type Admission = (
  user: User,
  write: {
    verb: 'create' | 'update' | 'delete';
    resource: string;
    subresource: string;
    name: string;
    namespace: string;
  },
  next: ApiObject | undefined,
  old: ApiObject | undefined,
) => void;
