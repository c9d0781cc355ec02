import { describeError, ensurePrivateFolder } from '../../../../src/base/index.ts';

/** Says what ensurePrivateFolder makes of a path, as the given user. */
const [, , path = '', user = ''] = process.argv;
if (user !== '') {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
await ensurePrivateFolder(path).then(
  () => console.log('fine'),
  (error: unknown) => console.log(describeError(error)),
);
