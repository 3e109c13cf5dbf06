import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { addStaticSite, type SiteFiles, sendNotBuilt, sendSiteFile } from './static-site.ts';

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
    otherwise: answerPage,
  });
}

/** Redirects an address without `.html` to its page. Any other gets the site's page for unknown addresses. */
function answerPage(reply: FastifyReply, name: string, files: SiteFiles): unknown {
  if (files.size === 0) return sendNotBuilt(reply, 404, 'guide', 'npm run docs');
  const bare = name.replace(/\/$/, '');
  const page = [`${bare}.html`, `${bare}/index.html`].find((path) => files.has(path));
  if (page !== undefined) return reply.redirect(`${PREFIX}${page}`, 308);
  const unknown = files.get('404.html');
  if (unknown === undefined || !['', '.html'].includes(extname(name))) return reply.callNotFound();
  return sendSiteFile(reply.code(404), unknown, false);
}
