const component = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*$/;
const host = /^(?:[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)*|\[[0-9a-fA-F:]+\])(?::\d{1,5})?$/;

/** Whether the text names an image with a tag: `[HOST[:PORT]/]PATH:TAG`. */
export function isImageName(text: string): boolean {
  const [, path = '', tag = ''] = /^(.+):([^:/]+)$/s.exec(text) ?? [];
  if (text.length > 512 || !/^\w[\w.-]{0,127}$/.test(tag)) return false;
  const [first = '', ...rest] = path.split('/');
  return rest.every(isImagePathPart) && (isImagePathPart(first) || (rest.length > 0 && host.test(first)));
}

/** Whether the text can stand between the slashes of an image's name. */
export function isImagePathPart(text: string): boolean {
  return component.test(text);
}
