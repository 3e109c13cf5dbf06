import { getLayer } from '../layers.ts';
import type { TidyRule } from '../rule.ts';
import type { Import } from '../tree.ts';

/**
 * The external packages that core may import: pure, without install script, without generated code at run
 * time.
 */
const PACKAGES = [
  '@cfworker/json-schema',
  '@marcbachmann/cel-js',
  '@noble/hashes',
  'fastest-levenshtein',
  'ipaddr.js',
  're2js',
];
/** Packages from which core may import types only. */
const TYPE_PACKAGES = ['typebox'];
/** Names that would make a decision depend on its environment. */
const WORLD =
  /^(Date\.(now|parse)|Math\.random|performance\..*|process\..*|console\..*|globalThis\..*|crypto\..*)$/;

export const corePurity: TidyRule = {
  name: 'core-purity',
  reason: 'Core decides from what it is given: it has no clock, no chance, no file and no machine.',
  examine: ({ sources }) =>
    sources
      .filter(({ path, is_test }) => getLayer(path) === 'core' && !is_test)
      .flatMap(({ path, imports, names, constructions }) => [
        ...imports
          .filter((each) => each.path === null && !isAllowed(each))
          .map(({ line, specifier }) => ({ path, line, message: `core must not import \`${specifier}\`` })),
        ...names
          .filter(({ name }) => WORLD.test(name))
          .map(({ line, name }) => ({ path, line, message: `core must not use \`${name}\`` })),
        ...constructions
          .filter((each) => each.name === 'Date' && each.arguments === 0)
          .map(({ line }) => ({ path, line, message: 'core must not read the clock with `new Date()`' })),
      ]),
  refuses: [
    { files: { 'src/core/a.ts': "import { readFileSync } from 'node:fs';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "import fastify from 'fastify';" }, remarks: 1 },
    { files: { 'src/core/a.ts': "import { Type } from 'typebox';" }, remarks: 1 },
    { files: { 'src/core/a.ts': 'export const a = Date.now() + Math.random();' }, remarks: 2 },
    { files: { 'src/core/a.ts': 'export const a = new Date();' }, remarks: 1 },
    { files: { 'src/core/a.ts': 'export const a = process.env.HOME;' }, remarks: 1 },
  ],
  accepts: [
    {
      'src/core/a.ts': "import { sha256 } from '@noble/hashes/sha2.js';\nexport const a = new Date(now_ms);",
    },
    { 'src/core/a.ts': "import type { Static } from 'typebox';" },
    { 'src/core/a.test.ts': "import { test } from 'node:test';\nexport const a = Date.now();" },
    { 'src/runtime/a.ts': 'export const a = Date.now();' },
  ],
};

function isAllowed({ specifier, is_type }: Import): boolean {
  const allowed = is_type ? [...PACKAGES, ...TYPE_PACKAGES] : PACKAGES;
  return allowed.some((name) => coversSpecifier(name, specifier));
}

function coversSpecifier(name: string, specifier: string): boolean {
  return specifier === name || specifier.startsWith(`${name}/`);
}
