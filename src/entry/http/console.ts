import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { addStaticSite, sendSiteFile, sendSitePage } from './static-site.ts';

/** Folders of the console: in the published program, and in a checkout, where `npm run console` writes it. */
const FOLDERS = ['../../console', '../../../console/dist'].map((path) => join(import.meta.dirname, path));
const PREFIX = '/dashboard/';

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The console is not built</title>
</head>
<body>
<h1>The console is not built</h1>
<p>This service runs from a checkout. Build the console, then load this page again:</p>
<pre>npm run console</pre>
</body>
</html>
`;

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
  if (index === null) return sendSitePage(reply, 503, NOT_BUILT);
  // A file of an earlier build is missing, so the page must not answer for it.
  if (name.startsWith('assets/') || ['.js', '.css', '.json'].includes(extname(name)))
    return reply.callNotFound();
  return sendSiteFile(reply, index, false);
}
