const maxLength = 512;
/** Vendor or class, and name, by the rules of the Container Device Interface's library, which allows dots in a class too. */
const vendorOrClass = /^[A-Za-z](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?$/;
const deviceName = /^[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9])?$/;

/** Returns the fault of a fully qualified CDI device name (`vendor.com/class=device`), or undefined. */
export function findCdiFault(id: string): string | undefined {
  if (id.length > maxLength) return `must be no more than ${maxLength} characters`;
  const [kind = '', name, ...more] = id.split('=');
  const [maker = '', sort, ...rest] = kind.split('/');
  if (name === undefined || sort === undefined || more.length > 0 || rest.length > 0) {
    return 'must have the form vendor.com/class=device';
  }
  if (!vendorOrClass.test(maker)) return `${JSON.stringify(maker)} cannot be the name of a vendor`;
  if (!vendorOrClass.test(sort)) return `${JSON.stringify(sort)} cannot be the name of a class`;
  if (!deviceName.test(name)) return `${JSON.stringify(name)} cannot be the name of a device`;
  return undefined;
}
