import type { ApiObject } from '../../../api/index.ts';
import type { Admission } from '../../registry/index.ts';

/** A write by a node agent that is checked. */
export interface NodeWrite {
  readonly node: string;
  readonly verb: Parameters<Admission>[1]['verb'];
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
  readonly next: ApiObject | undefined;
  readonly old: ApiObject | undefined;
}
