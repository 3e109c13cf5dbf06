import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** A site's files on the disk, by their path in the site. */
export type SiteFiles = ReadonlyMap<string, string>;

/** A folder of built files that is served as it is. */
export interface StaticSite {
  /** The path of the site, with `/` at its end. */
  readonly prefix: string;
  /** The first folder that exists is the site. */
  readonly folders: readonly string[];
  /** Returns true for names that carry a hash of their content: browsers may keep such a file for ever. */
  readonly is_hashed: (name: string) => boolean;
  /** Answers a path that names no file. It gets the site's files by their path in the site; none without a built site. */
  readonly otherwise: (reply: FastifyReply, name: string, files: SiteFiles) => unknown;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Allows resources of this origin only, no inline script or style, and no frame around the page. */
const HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** Files that are not found are listed again at most this often. */
const LISTED_AGAIN_MS = 250;

/**
 * Adds a site. The names of its files are read at the first request and when a name is missing, and only these files are served, so that no path leads out of
 * the folder. Nothing is read before the first request.
 */
export function addStaticSite(app: FastifyInstance, site: StaticSite): void {
  let listed: Promise<SiteFiles> | null = null;
  let listedMs = 0;
  app.get(`${site.prefix}*`, async (request, reply) => {
    const name = (request.params as { '*': string })['*'] || 'index.html';
    listed ??= listFiles(site.folders);
    let files = await listed;
    // A site that is built later, or again with other names, is found without a restart.
    if (!files.has(name) && Date.now() - listedMs > LISTED_AGAIN_MS) {
      listedMs = Date.now();
      listed = listFiles(site.folders);
      files = await listed;
    }
    const path = files.get(name);
    if (path === undefined) return site.otherwise(reply, name, files);
    return await sendSiteFile(reply, path, site.is_hashed(name));
  });
}

/** Sends one file of a site with the headers of all its pages. */
export async function sendSiteFile(
  reply: FastifyReply,
  path: string,
  isHashed: boolean,
): Promise<FastifyReply> {
  return reply
    .headers(HEADERS)
    .header('cache-control', isHashed ? 'public, max-age=31536000, immutable' : 'no-cache')
    .header('content-type', TYPES[extname(path)])
    .send(await readFile(path));
}

/** Sends the page of a site that is not built yet: how to build it. */
export function sendNotBuilt(
  reply: FastifyReply,
  status: number,
  site: string,
  command: string,
): FastifyReply {
  return reply
    .code(status)
    .headers(HEADERS)
    .header('cache-control', 'no-store')
    .header('content-type', TYPES['.html'])
    .send(buildNotBuiltPage(site, command));
}

/** Sends a page for a site that is being built: it loads itself again until the site is there. */
export function sendBuilding(reply: FastifyReply, site: string): FastifyReply {
  return reply
    .code(503)
    .headers(HEADERS)
    .header('cache-control', 'no-store')
    .header('retry-after', String(BUILDING_RELOAD_S))
    .header('content-type', TYPES['.html'])
    .send(buildBuildingPage(site));
}

const BUILDING_RELOAD_S = 2;

function buildBuildingPage(site: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${BUILDING_RELOAD_S}">
<title>The ${site} is being built</title>
</head>
<body>
<h1>The ${site} is being built</h1>
<p>This takes about a minute after the first start of a checkout. The page then continues by itself.</p>
</body>
</html>
`;
}

function buildNotBuiltPage(site: string, command: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The ${site} is not built</title>
</head>
<body>
<h1>The ${site} is not built</h1>
<p>This service runs from a checkout. Build the ${site}, then load this page again:</p>
<pre>${command}</pre>
</body>
</html>
`;
}

/** Returns the files of the first folder that exists, by their path in the site. */
async function listFiles(folders: readonly string[]): Promise<SiteFiles> {
  for (const folder of folders) {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = entries
      .filter((entry) => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
      .map((entry) => join(entry.parentPath, entry.name));
    if (files.length > 0)
      return new Map(files.map((file) => [relative(folder, file).replaceAll(sep, '/'), file]));
  }
  return new Map();
}
