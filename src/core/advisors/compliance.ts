import { boundSummary, parseAnswer } from './answer.ts';
import { buildInstructions, DOCUMENT_PATH } from './instructions.ts';
import type { RuleUse } from './recommender.ts';
import type { Advisor } from './types.ts';
import { formatUntrusted } from './untrusted.ts';
import { filterRuleName, filterTags, type PromptVocabulary } from './vocabulary.ts';

export const COMPLIANCE_FRAMEWORKS = ['hipaa', 'pci-dss', 'soc2', 'gdpr'] as const;
export type FrameworkName = (typeof COMPLIANCE_FRAMEWORKS)[number];

/** Returns the framework of a name in any case; `null` if there is none. */
export function findComplianceFramework(name: string): FrameworkName | null {
  const known = name
    .trim()
    .toLowerCase()
    .replace(/^pci(?:[ _]?dss)?$/, 'pci-dss')
    .replace(/^soc[ _-]2$/, 'soc2');
  return COMPLIANCE_FRAMEWORKS.find((framework) => framework === known) ?? null;
}

/** A requirement of a framework, in our own words. */
export interface FrameworkRequirement {
  readonly id: string;
  readonly text: string;
}

/** A framework, and the active policy. */
export interface PolicySetRequest {
  readonly framework: FrameworkName;
  /** The title for people. */
  readonly title: string;
  readonly requirements: readonly FrameworkRequirement[];
  readonly rules: readonly RuleUse[];
  readonly contracts: number;
  readonly identities: number;
  readonly default_action: string;
  readonly audit_enabled: boolean;
  readonly retention_days: number;
  readonly vocabulary: PromptVocabulary;
}

const TASK = `You compare the policy of a rule engine that guards AI agents with the requirements of one compliance framework.
First write a gap analysis of at most 500 words: for each requirement its id, then covered, partly covered, not covered, or
"outside of this product", and the rules that show it. Claim nothing that the rules do not show, and never say that anybody is
compliant. Then write one file, policies/compliance-<framework>.yaml, with the rules that close gaps. Give them the priority 50
and names that begin with the framework.`;

/** Compares the policy with a framework, and proposes a policy set. */
export const complianceAdvisor: Advisor<PolicySetRequest> = {
  name: 'compliance',
  brief: (request) => ({
    system: `${buildInstructions(TASK, true)}\n\n${describeRequirements(request)}`,
    user: formatUntrusted('policy', describePolicy(request)),
  }),
  read: (answer, { framework, requirements }) => {
    const { prose, files, problems } = parseAnswer(answer, {
      path: DOCUMENT_PATH,
      expects: '`policies/` and a name of lower-case letters, digits, `-` and `_` with `.yaml`',
      unnamed: `policies/compliance-${framework}.yaml`,
    });
    return {
      summary: boundSummary(prose),
      artifacts: files,
      problems: prose === '' && files.length === 0 ? ['The answer is empty.'] : problems,
      metadata: { framework, requirements: requirements.map(({ id }) => id) },
    };
  },
};

function describeRequirements({ framework, title, requirements }: PolicySetRequest): string {
  const lines = requirements.map(({ id, text }) => `- ${id}: ${text}`);
  return `The framework is ${title} (${framework}). Its requirements that concern data of agents:\n${lines.join('\n')}`;
}

const RULES_MAX = 150;

function describePolicy({ rules, vocabulary, ...settings }: PolicySetRequest): object {
  return {
    default_action: settings.default_action,
    contracts: settings.contracts,
    identities: settings.identities,
    audit_enabled: settings.audit_enabled,
    retention_days: settings.retention_days,
    rules: rules.slice(0, RULES_MAX).map((rule) => ({
      name: filterRuleName(rule.name, vocabulary),
      builtin: rule.builtin,
      boundaries: rule.boundaries,
      data_tags: filterTags(rule.data_tags, vocabulary),
      action: rule.action,
      enforcement: rule.enforcement,
      has_condition: rule.has_condition || rule.tools.length + rule.agents.length > 0,
    })),
  };
}
