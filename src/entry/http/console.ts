import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isConsoleBuilding } from './console-mark.ts';
import { addStaticSite, type SiteFiles, sendBuilding, sendNotBuilt, sendSiteFile } from './static-site.ts';

/** Folders of the console: in the published program, and in a checkout, where `npm run console` writes it. */
const FOLDERS = ['../../console', '../../../console/dist'].map((path) => join(import.meta.dirname, path));
const PREFIX = '/dashboard/';

/**
 * Adds the console at `/dashboard`. The pages have addresses of their own that name no file: they get `index.html`, whose script
 * reads the address.
 */
export function addConsole(
  app: FastifyInstance,
  folders: readonly string[] = FOLDERS,
  isBuilding: () => boolean = isConsoleBuilding,
): void {
  addStaticSite(app, {
    prefix: PREFIX,
    folders,
    is_hashed: (name) => name.startsWith('assets/'),
    otherwise: (reply, name, files) => answerPage(reply, name, files, isBuilding),
  });
  app.get(PREFIX.slice(0, -1), redirectToConsole);
}

/** Redirects to the console's first page, with the query, which has the filters. */
export async function redirectToConsole({ url }: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const query = url.indexOf('?');
  return reply.redirect(`${PREFIX}${query === -1 ? '' : url.slice(query)}`, 308);
}

function answerPage(reply: FastifyReply, name: string, files: SiteFiles, isBuilding: () => boolean): unknown {
  const index = files.get('index.html');
  if (index === undefined)
    return isBuilding()
      ? sendBuilding(reply, 'console')
      : sendNotBuilt(reply, 503, 'console', 'npm run console');
  // A file of an earlier build is missing, so the page must not answer for it.
  if (name.startsWith('assets/') || ['.js', '.css', '.json'].includes(extname(name)))
    return reply.callNotFound();
  return sendSiteFile(reply, index, false);
}
