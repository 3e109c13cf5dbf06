import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** Folders of the site: in the published program, and in a checkout, where `npm run docs` writes it. */
const FOLDERS = ['../../guide', '../../../docs/.vitepress/dist'].map((path) =>
  join(import.meta.dirname, path),
);
const PREFIX = '/docs/guide/';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
};

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

/**
 * Adds the documentation site. The names of its files are read at the first request, and only these files are served, so that no
 * path leads out of the folder. A checkout without a built site has no guide: 404.
 */
export function addGuide(app: FastifyInstance, folders: readonly string[] = FOLDERS): void {
  let listed: Promise<ReadonlyMap<string, string>> | null = null;
  app.get(PREFIX.slice(0, -1), (_request, reply) => reply.redirect(PREFIX, 308));
  app.get(`${PREFIX}*`, async (request, reply) => {
    listed ??= listFiles(folders);
    const name = (request.params as { '*': string })['*'] || 'index.html';
    const path = (await listed).get(name);
    if (path === undefined) return reply.callNotFound();
    return await sendFile(reply, name, path);
  });
}

/** Returns the files of the first folder that exists, by their path in the site. */
async function listFiles(folders: readonly string[]): Promise<ReadonlyMap<string, string>> {
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

async function sendFile(reply: FastifyReply, name: string, path: string): Promise<FastifyReply> {
  // Names of assets carry a hash of their content, except that of the start script.
  const is_hashed = name.startsWith('assets/') && name !== 'assets/start.js';
  const caching = is_hashed ? 'public, max-age=31536000, immutable' : 'public, max-age=300';
  return reply
    .headers(HEADERS)
    .header('cache-control', caching)
    .header('content-type', TYPES[extname(name)])
    .send(await readFile(path));
}
