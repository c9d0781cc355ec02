/** The form of the id of every checkpoint and of every set of them (specification, section 4.11). */
export const checkpointIdPattern = /^checkpoint-[a-z0-9][-a-z0-9.~]*_[-a-z0-9]+-[0-9TZ:.-]+$/;
/** In bytes: the limit of Linux file systems. */
const maxNameLength = 255;
/** The longest file name made of an id is `.ID.set.json`. */
export const maxCheckpointIdLength = maxNameLength - '..set.json'.length;

/** Whether a text has the form of an id. Such a text contains no slash and is safe as part of a path. */
export function isCheckpointId(text: string): boolean {
  return text.length <= maxNameLength - '.json'.length && checkpointIdPattern.test(text);
}
