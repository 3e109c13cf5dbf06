/**
 * `npm run generate`: writes the files that are generated from the code. With `--check` it writes nothing,
 * and lists the outdated ones.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { buildEditorSchemas } from '../../src/runtime/policies/editor-schemas.ts';
import { adapterReference } from './adapter-reference.ts';
import { agentTracesModule } from './agent-traces.ts';
import { anchorTree } from './anchor-tree.ts';
import { commandsPage } from './commands-page.ts';
import { compliancePage } from './compliance-page.ts';
import { configurationPage } from './configuration-page.ts';
import { consoleRoutes } from './console-routes.ts';
import { derivedGroupsModule } from './derived-groups.ts';
import { detectorPages } from './detectors-page.ts';
import { frameworkGuidePages } from './guide-pages.ts';
import { pythonReferencePage } from './python-reference.ts';
import { sdkReferencePage } from './sdk-reference.ts';
import { sdkServiceApiModule } from './sdk-service-api.ts';
import { sdkSettingsModule } from './sdk-settings.ts';
import { skillPolicies } from './skill-policies.ts';
import { pagesWithTables } from './tables.ts';
import { typeNamesPage } from './type-names-page.ts';

const root = resolve(import.meta.dirname, '..', '..');
const check = process.argv.includes('--check');
const files = [
  { path: 'docs/reference/configuration.md', text: configurationPage() },
  { path: 'docs/reference/commands.md', text: commandsPage() },
  { path: 'docs/reference/compliance-frameworks.md', text: compliancePage() },
  { path: 'src/entry/cli/derived-groups.ts', text: derivedGroupsModule() },
  { path: 'src/core/detect/agent-traces.ts', text: agentTracesModule() },
  { path: 'src/core/detect/registry/anchor-tree.ts', text: anchorTree() },
  { path: 'docs/reference/type-names.md', text: typeNamesPage() },
  { path: 'console/src/api/routes.ts', text: consoleRoutes() },
  { path: 'docs/reference/sdk-python.md', text: await pythonReferencePage() },
  { path: 'docs/reference/sdk-typescript.md', text: sdkReferencePage() },
  { path: 'data/adapter-reference.json', text: adapterReference() },
  { path: 'src/sdk/service-api.ts', text: sdkServiceApiModule() },
  { path: 'src/sdk/local/settings-schema.ts', text: sdkSettingsModule() },
  ...frameworkGuidePages(),
  ...detectorPages(),
  ...skillPolicies(),
  ...pagesWithTables(),
  ...buildEditorSchemas().map(({ name, text }) => ({ path: `schemas/${name}`, text })),
];

const stale = files.filter(({ path, text }) => present(path) !== text);
for (const { path, text } of stale) {
  console.log(check ? `${path} is not what the code makes: run \`npm run generate\`` : path);
  if (check) continue;
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
process.exitCode = check && stale.length > 0 ? 1 : 0;

function present(path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return null;
  }
}
