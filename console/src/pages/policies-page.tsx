import { AdvicePanel } from '../components/advice-panel.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { PageTabs } from '../components/page-tabs.tsx';
import { DocumentPanel } from './policies/document-panel.tsx';
import { RulesPanel } from './policies/rules-panel.tsx';
import { SkillsPanel } from './policies/skills-panel.tsx';
import { TemplatesPanel } from './policies/templates-panel.tsx';

/** The active rules, the policy document that is edited here, and the templates and skills to install. */
export function PoliciesPage() {
  return (
    <div className="page-body">
      <PageHeader title="Policies" lead="Which rules decide, how often they match, and how to change them." />
      <AdvicePanel
        operation="intelligenceRecommend"
        input={{ since: '7d' }}
        title="Recommendations"
        label="Recommend"
        hint="Sends totals of the last seven days and the names of rules to the configured model. Each proposal is compiled, linted and replayed."
      />
      <PageTabs
        parts={[
          { id: 'rules', title: 'Active rules', permission: 'audit:read', Content: RulesPanel },
          { id: 'document', title: 'Policy document', permission: 'dashboard:view', Content: DocumentPanel },
          { id: 'templates', title: 'Templates', permission: 'policy:read', Content: TemplatesPanel },
          { id: 'skills', title: 'Skills', permission: 'dashboard:view', Content: SkillsPanel },
        ]}
      />
    </div>
  );
}
