/**
 * A secret backend: a folder with one file for each secret, as Docker (`/run/secrets`) and Kubernetes mount them.
 *
 *     plugins: { files: [plugins/secrets.mjs] }
 *     secrets:
 *       backend: plugin
 *       plugin: { from: plugins/secrets.mjs, driver: files, settings: { folder: /run/secrets } }
 */
import { readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** The service passes on no more than this code, because the text of an error here could hold a part of a secret. */
function failure(code) {
  return Object.assign(new Error(code), { code });
}

/** A mounted file may end with the line feed that an editor left. */
const textOf = (bytes) => bytes.toString('utf8').replace(/\r?\n$/, '');

async function open({ folder }) {
  const root = await realpath(folder ?? '/run/secrets');
  if (!(await stat(root)).isDirectory()) throw failure('secrets_setup');
  return {
    /** The value of a key, or `null` where there is none. A key is letters, digits, `_`, `.`, `-`, in parts joined by `/`. */
    async get(key, signal) {
      try {
        // Kubernetes swaps links inside of the mount; a link that leads out of it is no secret.
        const path = await realpath(join(root, key));
        if (!path.startsWith(root + sep)) throw failure('secrets_denied');
        return textOf(await readFile(path, { signal }));
      } catch (error) {
        if (error.code === 'ENOENT' || error.code === 'EISDIR' || error.code === 'ENOTDIR') return null;
        if (error.code === 'EACCES') throw failure('secrets_denied');
        throw error;
      }
    },
    async check() {
      await stat(root);
    },
  };
}

export default {
  name: 'secret-files',
  version: '1.0.0',
  description: 'Secrets from files.',
  drivers: [{ kind: 'secrets', name: 'files', description: 'A folder with one file for each secret.', open }],
};
