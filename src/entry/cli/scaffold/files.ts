import { buildEditorSchemas } from '../../../runtime/policies/editor-schemas.ts';
import { configSchema } from '../../../server/load-config.ts';
import { buildConfigurationText, type IntelligenceAnswer } from './configuration.ts';
import {
  CONTRACT_DOCUMENT,
  IDENTITY_DOCUMENT,
  INTERNAL_RULE,
  MEMORY_DOCUMENT,
  POLICY_DOCUMENT,
  POLICY_TESTS,
} from './documents.ts';
import type { ScaffoldFile } from './write.ts';

/**
 * Returns the files that `init` writes, in the listed order. The schemas are for editors, which use them to complete
 * and check.
 */
export function buildScaffoldFiles(
  full: boolean,
  intelligence: IntelligenceAnswer | null,
): readonly ScaffoldFile[] {
  const files: ScaffoldFile[] = [
    { path: 'service.yaml', text: buildConfigurationText(full, intelligence) },
    { path: 'policies/default.yaml', text: full ? POLICY_DOCUMENT + INTERNAL_RULE : POLICY_DOCUMENT },
    { path: 'policies/tests/default.yaml', text: POLICY_TESTS },
    { path: 'schemas/memory.yaml', text: MEMORY_DOCUMENT },
  ];
  if (full) {
    files.push({ path: 'contracts/example.yaml', text: CONTRACT_DOCUMENT });
    files.push({ path: 'agents/default.yaml', text: IDENTITY_DOCUMENT });
  }
  return [...files, ...listSchemaFiles(files)];
}

/** Returns the schemas that these files name in their first line. */
function listSchemaFiles(files: readonly ScaffoldFile[]): ScaffoldFile[] {
  return buildEditorSchemas(configSchema)
    .filter(({ name }) => files.some(({ text }) => text.includes(`schemas/${name}`)))
    .map(({ name, text }) => ({ path: `schemas/${name}`, text }));
}
