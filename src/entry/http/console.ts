import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { addStaticSite, sendNotBuilt, sendSiteFile } from './static-site.ts';

/** Folders of the console: in the published program, and in a checkout, where `npm run console` writes it. */
const FOLDERS = ['../../console', '../../../console/dist'].map((path) => join(import.meta.dirname, path));
const PREFIX = '/dashboard/';

/**
 * Adds the console at `/dashboard`. The pages have addresses of their own that name no file: they get `index.html`, whose script
 * reads the address.
 */
export function addConsole(app: FastifyInstance, folders: readonly string[] = FOLDERS): void {
  addStaticSite(app, {
    prefix: PREFIX,
    folders,
    is_hashed: (name) => name.startsWith('assets/'),
    otherwise: (reply, name, index) => answerPage(reply, name, index),
  });
  app.get(PREFIX.slice(0, -1), async (request, reply) => {
    const query = request.url.indexOf('?');
    return reply.redirect(`${PREFIX}${query === -1 ? '' : request.url.slice(query)}`, 308);
  });
}

function answerPage(reply: FastifyReply, name: string, index: string | null): unknown {
  if (index === null) return sendNotBuilt(reply, 503, 'console', 'npm run console');
  // A file of an earlier build is missing, so the page must not answer for it.
  if (name.startsWith('assets/') || ['.js', '.css', '.json'].includes(extname(name)))
    return reply.callNotFound();
  return sendSiteFile(reply, index, false);
}
