/**
 * `npm run generate`: writes the files that are generated from the code. With `--check` it writes nothing,
 * and lists the outdated ones.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { buildEditorSchemas } from '../../src/runtime/policies/editor-schemas.ts';
import { configSchema } from '../../src/server/load-config.ts';
import { renderAdapterReference } from './adapter-reference.ts';
import { renderAgentTracesModule } from './agent-traces.ts';
import { renderAnchorTreeModule } from './anchor-tree.ts';
import { renderCommandLinePage } from './command-line-page.ts';
import { renderCompliancePage } from './compliance-page.ts';
import { renderConfigurationPage } from './configuration-page.ts';
import { renderConsoleRoutes } from './console-routes.ts';
import { renderDangerousCommandsPage } from './dangerous-commands-page.ts';
import { renderDerivedGroupsModule } from './derived-groups.ts';
import { renderDetectorPages } from './detectors-page.ts';
import { renderFrameworkGuidePages } from './guide-pages.ts';
import { renderPythonReferencePage } from './python-reference.ts';
import { renderRoutesPage } from './routes-page.ts';
import { renderSdkReferencePage } from './sdk-reference.ts';
import { renderSdkServiceApiModule } from './sdk-service-api.ts';
import { renderSdkSettingsModule } from './sdk-settings.ts';
import { renderSkillPolicies } from './skill-policies.ts';
import { renderPagesWithTables } from './tables.ts';
import { renderTypeNamesPage } from './type-names-page.ts';

const root = resolve(import.meta.dirname, '..', '..');
const check = process.argv.includes('--check');
const files = [
  { path: 'docs/reference/configuration.md', text: renderConfigurationPage() },
  { path: 'docs/reference/command-line.md', text: await renderCommandLinePage() },
  { path: 'docs/reference/dangerous-commands.md', text: renderDangerousCommandsPage() },
  { path: 'docs/reference/compliance-frameworks.md', text: renderCompliancePage() },
  { path: 'src/entry/cli/derived-groups.ts', text: renderDerivedGroupsModule() },
  { path: 'src/core/detect/agent-traces.ts', text: renderAgentTracesModule() },
  { path: 'src/core/detect/registry/anchor-tree.ts', text: renderAnchorTreeModule() },
  { path: 'docs/reference/routes.md', text: renderRoutesPage() },
  { path: 'docs/reference/type-names.md', text: renderTypeNamesPage() },
  { path: 'console/src/api/routes.ts', text: renderConsoleRoutes() },
  { path: 'docs/reference/sdk-python.md', text: await renderPythonReferencePage() },
  { path: 'docs/reference/sdk-typescript.md', text: renderSdkReferencePage() },
  { path: 'data/adapter-reference.json', text: renderAdapterReference() },
  { path: 'src/sdk/service-api.ts', text: renderSdkServiceApiModule() },
  { path: 'src/sdk/local/settings-schema.ts', text: renderSdkSettingsModule() },
  ...renderFrameworkGuidePages(),
  ...renderDetectorPages(),
  ...renderSkillPolicies(),
  ...renderPagesWithTables(),
  ...buildEditorSchemas(configSchema).map(({ name, text }) => ({ path: `schemas/${name}`, text })),
];

const stale = files.filter(({ path, text }) => readIfPresent(path) !== text);
for (const { path, text } of stale) {
  console.log(check ? `${path} is not what the code makes: run \`npm run generate\`` : path);
  if (check) continue;
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
process.exitCode = check && stale.length > 0 ? 1 : 0;

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(join(root, path), 'utf8');
  } catch {
    return null;
  }
}
