/** Opens the store in the folder of its argument and tells how that went. */
import { openStore, StorageError } from '../../../src/apiserver/storage/index.ts';

const [folder = ''] = process.argv.slice(2);
try {
  const store = await openStore({ kind: 'sqlite', folder, identity: { groupSuffix: 'k8s.io' } });
  await store.close();
  console.log('opened');
} catch (error) {
  console.log(error instanceof StorageError ? `${error.code} ${error.message}` : `other ${String(error)}`);
}
