import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * Builds the console into `dist`. The service serves the files below `/dashboard/` with a content security policy without
 * `unsafe-inline`, so nothing is inlined: no data URLs, no inline script, no polyfill.
 */
export default defineConfig({
  base: '/dashboard/',
  plugins: [react()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // What every first load needs is one file: small shared chunks cost a request each.
      output: { codeSplitting: { groups: [{ name: 'first-load', tags: ['$initial'] }] } },
    },
  },
});
