/** The SDK for browsers and workers: nothing in it reads a file. Node, Bun and Deno load `index.ts` instead. */

export { createClientGuard } from './client/index.ts';
export { createEmbeddedQuickstart as quickstart } from './local/index.ts';
export * from './public.ts';
