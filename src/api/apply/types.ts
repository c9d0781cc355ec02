/** Who changes an object, and how: the identity of an entry of metadata.managedFields. */
export interface Writer {
  manager: string;
  operation: 'Apply' | 'Update';
  apiVersion: string;
  /** Empty for the object's own path. */
  subresource: string;
}

/** Fields that an apply would change although another manages them. */
export interface Conflict extends Writer {
  /** Paths as people write them: `.spec.template.spec.containers[name="web"].image`. */
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
 * An apply that was not forced and met fields of others. Answered with 409, reason Conflict, this message and these
 * causes; as in the reference the details tell no name and no kind.
 */
export class ApplyConflictError extends Error {
  override readonly name = 'ApplyConflictError';
  /** Sorted by manager; each names at least one field. A large configuration can meet a hundred thousand. */
  readonly conflicts: readonly Conflict[];
  /** One for each field, of the first hundred. */
  readonly causes: readonly ConflictCause[];

  constructor(conflicts: readonly Conflict[]) {
    const causes = firstCauses(conflicts);
    super(
      messageOf(
        causes,
        conflicts.reduce((sum, { fields }) => sum + fields.length, 0),
      ),
    );
    this.conflicts = conflicts;
    this.causes = causes;
  }
}

/** What is told at most, as of what is invalid; the reference tells all. */
const causesLimit = 100;

function firstCauses(conflicts: readonly Conflict[]): ConflictCause[] {
  const causes: ConflictCause[] = [];
  for (const conflict of conflicts) {
    const message = `conflict with ${nameOf(conflict)}`;
    for (const field of conflict.fields) {
      if (causes.length === causesLimit) return causes;
      causes.push({ reason: 'FieldManagerConflict', message, field });
    }
  }
  return causes;
}

function messageOf(told: readonly ConflictCause[], count: number): string {
  const [first] = told;
  if (first !== undefined && count === 1)
    return `Apply failed with 1 conflict: ${first.message}: ${first.field}`;
  const lines: string[] = [];
  for (const [message, causes] of Map.groupBy(told, (cause) => cause.message)) {
    lines.push(message.replace('conflict', 'conflicts').concat(':'));
    for (const { field } of causes) lines.push(`- ${field}`);
  }
  if (told.length < count) lines.push(`and ${count - told.length} more`);
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`;
}

/** The version is told only of an update: who applies is the same in every version. */
function nameOf({ manager, operation, apiVersion, subresource }: Conflict): string {
  const through = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}
