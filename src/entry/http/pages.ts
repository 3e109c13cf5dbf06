import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { PRODUCT_NAME } from '../../core/names.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { addConsole, redirectToConsole } from './console.ts';
import { addGuide } from './guide.ts';
import { buildOpenApiDocument } from './openapi.ts';

/** A file of a page, and its location: next to the published program, otherwise in the package that it comes from. */
interface Asset {
  readonly route: string;
  readonly file: string;
  readonly package_path: string;
  readonly type: string;
}

const SCRIPT = 'text/javascript; charset=utf-8';
const REDOC = '/redoc/redoc.standalone.js';
const SWAGGER = '@fastify/swagger-ui/static/';

/**
 * All files that the docs pages load. The build copies them, so that the published package does not depend on their
 * packages.
 */
export const assets: readonly Asset[] = [
  buildAsset('/docs/swagger-ui.css', `${SWAGGER}swagger-ui.css`, 'text/css; charset=utf-8'),
  buildAsset('/docs/swagger-ui-bundle.js', `${SWAGGER}swagger-ui-bundle.js`, SCRIPT),
  buildAsset('/docs/favicon-32x32.png', `${SWAGGER}favicon-32x32.png`, 'image/png'),
  buildAsset(REDOC, 'redoc/bundles/redoc.standalone.js', SCRIPT),
];

function buildAsset(route: string, packagePath: string, type: string): Asset {
  return { route, file: route.slice(route.lastIndexOf('/') + 1), package_path: packagePath, type };
}

/** Uses relative URLs, so that the pages also work below a path of a reverse proxy. */
const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${PRODUCT_NAME} API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const DOCS_SCRIPT = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  validatorUrl: null,
});
`;

const REDOC_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${PRODUCT_NAME} API</title>
<link rel="icon" type="image/png" href="docs/favicon-32x32.png">
</head>
<body>
<redoc spec-url="openapi.json" disable-search="true"></redoc>
<script src="redoc/redoc.standalone.js"></script>
</body>
</html>
`;

/** Allows no external resources and no inline scripts. Both pages write their styles at run time. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The URL paths of the pages. */
export const pagePaths: readonly string[] = [
  '/',
  '/openapi.json',
  '/dashboard',
  '/docs',
  '/docs/guide',
  '/redoc',
];

/** Answers `/` for programs. */
const LINKS = {
  console: '/dashboard',
  guide: '/docs/guide',
  api: '/docs',
  openapi: '/openapi.json',
  health: '/v1/health',
};

/** Adds the API description and its two viewers. Files are read and generated on request only. */
export function addPages(app: FastifyInstance, served: readonly AnyOperation[], runtime: Runtime): void {
  let description: string | null = null;
  app.get('/', async (request, reply) =>
    request.headers.accept?.includes('text/html') === true ? redirectToConsole(request, reply) : LINKS,
  );
  app.get('/openapi.json', async (_request, reply) => {
    description ??= JSON.stringify(buildOpenApiDocument(served, runtime.version));
    return reply.header('content-type', 'application/json; charset=utf-8').send(description);
  });
  app.get('/docs', (_request, reply) => sendPage(reply, DOCS_PAGE));
  app.get('/docs/start.js', (_request, reply) => sendFile(reply, SCRIPT, DOCS_SCRIPT));
  app.get('/redoc', (_request, reply) => sendPage(reply, REDOC_PAGE));
  addGuide(app);
  addConsole(app);
  for (const one of assets) {
    app.get(one.route, async (_request, reply) => {
      const content = await getContent(one);
      return sendFile(reply, one.type, one.route === REDOC ? removeLogo(content) : content);
    });
  }
}

/**
 * Removes the vendor's logo, which would be loaded from another site. The page's policy refuses that with an error in
 * the console.
 */
function removeLogo(script: Buffer): string {
  return script.toString('utf8').replace('https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,');
}

function sendPage(reply: FastifyReply, html: string): FastifyReply {
  reply.header('content-security-policy', PAGE_POLICY).header('referrer-policy', 'no-referrer');
  return reply
    .header('x-frame-options', 'DENY')
    .header('content-type', 'text/html; charset=utf-8')
    .send(html);
}

function sendFile(reply: FastifyReply, type: string, content: string | Buffer): FastifyReply {
  return reply.header('cache-control', 'public, max-age=3600').header('content-type', type).send(content);
}

/** Reads the file from the disk for each request, because the bundles are large and rarely requested. */
async function getContent({ file, package_path }: Asset): Promise<Buffer> {
  try {
    return await readFile(join(import.meta.dirname, '../../assets', file));
  } catch {
    return await readFile(createRequire(import.meta.url).resolve(package_path));
  }
}
