/** The manager that changes an object, and how it does: the identity of an entry of metadata.managedFields. */
export interface Writer {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  /** Empty for the object's own path. */
  subresource: string;
}

/** Fields that an apply would change although another manages them. */
export interface Conflict extends Writer {
  /** Paths for people: `.spec.template.spec.containers[name="web"].image`. */
  fields: readonly string[];
}

/** One field of a conflict, as a cause in the details of a Status. */
export interface ConflictCause {
  reason: 'FieldManagerConflict';
  /** `conflict with "kubectl-client-side-apply" using v1`. */
  message: string;
  field: string;
}

/**
 * An apply without `force` would change fields of other managers. The server answers with 409, reason Conflict, this
 * message and these causes; as in the reference, the details have neither name nor kind.
 */
export class ApplyConflictError extends Error {
  override readonly name = 'ApplyConflictError';
  /** Sorted by manager; each names at least one field. A large configuration can have a hundred thousand. */
  readonly conflicts: readonly Conflict[];
  /** One for each field, of the first hundred. */
  readonly causes: readonly ConflictCause[];

  constructor(conflicts: readonly Conflict[]) {
    const causes = listFirstCauses(conflicts);
    super(
      formatMessage(
        causes,
        conflicts.reduce((sum, { fields }) => sum + fields.length, 0),
      ),
    );
    this.conflicts = conflicts;
    this.causes = causes;
  }
}

/** How many causes are reported, as for invalid objects; the reference reports all. */
const causesLimit = 100;

function listFirstCauses(conflicts: readonly Conflict[]): ConflictCause[] {
  const causes: ConflictCause[] = [];
  for (const conflict of conflicts) {
    const message = `conflict with ${formatWriter(conflict)}`;
    for (const field of conflict.fields) {
      if (causes.length === causesLimit) return causes;
      causes.push({ reason: 'FieldManagerConflict', message, field });
    }
  }
  return causes;
}

function formatMessage(causes: readonly ConflictCause[], count: number): string {
  const [first] = causes;
  if (first !== undefined && count === 1)
    return `Apply failed with 1 conflict: ${first.message}: ${first.field}`;
  const lines: string[] = [];
  for (const [message, sameMessage] of Map.groupBy(causes, (cause) => cause.message)) {
    lines.push(message.replace('conflict', 'conflicts').concat(':'));
    for (const { field } of sameMessage) lines.push(`- ${field}`);
  }
  if (causes.length < count) lines.push(`and ${count - causes.length} more`);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

/** Names the API version only for an update: a manager that applies is the same one in every version. */
function formatWriter({ manager, operation, apiVersion, subresource }: Conflict): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
