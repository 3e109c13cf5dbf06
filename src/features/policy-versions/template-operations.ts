import { policyPacks } from '../../core/policy/templates/index.ts';
import { requireAllTenants, requirePerson } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { dropBlankName } from '../../operations/subject.ts';
import { saveDocument, savedDocument } from './document-operations.ts';
import { findLineOfText } from './fields.ts';
import { findPolicyVersion } from './version-store.ts';

export const dashboardTemplateInstall = defineOperation({
  name: 'dashboard_template_install',
  summary: 'Install a policy template',
  description:
    'Adds the documents of a template to the end of the policy document, saves the result as the next version, and activates it in all workers. Needs a person with access to all tenants.',
  http: { method: 'POST', path: '/v1/dashboard/templates/install' },
  permission: 'policies:edit',
  needs: 'live',
  input: {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', minLength: 1, maxLength: 256, description: 'The name of the template.' },
      note: findLineOfText('Why; shown in the history.'),
    },
  },
  output: savedDocument,
  example: { name: 'healthcare' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid'],
  async run({ name, note }, context) {
    requirePerson(context);
    requireAllTenants(context);
    const template = (await listTemplates(context)).find((each) => each.name === name.trim().toLowerCase());
    if (template === undefined) throw new Refusal('not_found', 'There is no template of that name.');
    const { stringify } = await import('yaml');
    const { db } = await context.runtime.store();
    const current = await findPolicyVersion(db);
    const before = current === null || current.text.trim() === '' ? '' : `${current.text.trimEnd()}\n---\n`;
    const added = `# Template ${template.name}\n${stringify(template.document)}`;
    const why = dropBlankName(note) ?? `Installed the template ${template.name}.`;
    const document = { text: `${before}${added}`, name: '', note: why };
    return saveDocument(document, null, current?.version ?? 0, context);
  },
});

interface Template {
  readonly name: string;
  readonly description: string;
  readonly source: 'builtin' | 'plugin';
  readonly document: unknown;
}

async function listTemplates({ runtime }: Context): Promise<readonly Template[]> {
  const { templates } = await runtime.plugins();
  return [
    ...policyPacks.map((each) => ({ ...each, source: 'builtin' as const })),
    ...templates.map((each) => ({ ...each, source: 'plugin' as const })),
  ];
}
