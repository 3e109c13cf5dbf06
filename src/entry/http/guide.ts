import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { addStaticSite, sendNotBuilt } from './static-site.ts';

/** Folders of the site: in the published program, and in a checkout, where `npm run docs` writes it. */
const FOLDERS = ['../../guide', '../../../docs/.vitepress/dist'].map((path) =>
  join(import.meta.dirname, path),
);
const PREFIX = '/docs/guide/';

/** Adds the documentation site. A checkout without a built site answers with how to build it. */
export function addGuide(app: FastifyInstance, folders: readonly string[] = FOLDERS): void {
  app.get(PREFIX.slice(0, -1), (_request, reply) => reply.redirect(PREFIX, 308));
  addStaticSite(app, {
    prefix: PREFIX,
    folders,
    // Names of assets carry a hash of their content, except that of the start script.
    is_hashed: (name) => name.startsWith('assets/') && name !== 'assets/start.js',
    otherwise: (reply, _name, index) =>
      index === null ? sendNotBuilt(reply, 404, 'guide', 'npm run docs') : reply.callNotFound(),
  });
}
