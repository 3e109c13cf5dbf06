import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { build, type Plugin, transform } from 'esbuild';
import { parseSync, Visitor } from 'oxc-parser';
import { serializeDetectorTable } from '../../src/core/detect/matching/detector-table.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';
import { applyChanges, withLazyRequires } from './lazy-requires.ts';

/**
 * Bundles the core for a bare V8 into one script, which defines `customshouse`. Needs no built program.
 *
 * @param outfile - the file to write
 * @returns the size of the script in bytes
 */
export async function bundleEmbedded(outfile: string, version: string): Promise<number> {
  const { metafile } = await build({
    entryPoints: ['src/sdk/embedded.ts'],
    absWorkingDir: resolve(import.meta.dirname, '../..'),
    outfile,
    bundle: true,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['browser', 'module', 'main'],
    conditions: ['browser'],
    target: 'es2023',
    charset: 'ascii',
    minify: true,
    legalComments: 'none',
    define: {
      EMBEDDED_VERSION: JSON.stringify(version),
      DETECTOR_TABLE: JSON.stringify(JSON.stringify(serializeDetectorTable(builtinFiles))),
    },
    plugins: [lazyModules],
    metafile: true,
    logLevel: 'warning',
  });
  return Object.values(metafile.outputs)[0]!.bytes;
}

/** Runs the detectors and some packages at their first use, because they are most of the time of a start. */
const lazyModules: Plugin = {
  name: 'lazy-modules',
  setup: ({ onLoad }) => {
    onLoad({ filter: /[/\\]src[/\\](?:core|sdk)[/\\].*\.ts$/ }, async ({ path }) => {
      const { code } = await transform(readFileSync(path, 'utf8'), { loader: 'ts', target: 'es2023' });
      const name = relative(resolve('src'), path).replace(/\.ts$/, '');
      return { contents: withLazyRequires(name, dropExamples(code)), loader: 'js' };
    });
  },
};

/** Members with the examples of detectors and of rules for commands, which only tests read. */
const EXAMPLES = ['hits', 'misses'];

/** Returns a module with empty lists of examples. */
function dropExamples(code: string): string {
  if (!EXAMPLES.some((name) => code.includes(`${name}: [`))) return code;
  const found: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  new Visitor({
    Property: ({ key, value }) => {
      if (key.type === 'Identifier' && EXAMPLES.includes(key.name) && value.type === 'ArrayExpression')
        found.push({ start: value.start, end: value.end, text: '[]' });
    },
  }).visit(parseSync('module.js', code).program);
  return applyChanges(code, found);
}
