import { boundSummary, parseAnswer } from './answer.ts';
import { type ControlFinding, sanitizeFinding } from './control-findings.ts';
import { buildInstructions, DOCUMENT_PATH } from './instructions.ts';
import type { RuleUse } from './recommender.ts';
import type { Advisor } from './types.ts';
import { formatUntrusted } from './untrusted.ts';
import { filterRuleName, filterTags, type PromptVocabulary } from './vocabulary.ts';

/** A framework, the report on it, and the active policy. */
export interface PolicySetRequest {
  /** The id of the framework: `hipaa`. */
  readonly framework: string;
  /** The title for people, and the edition of the framework. */
  readonly title: string;
  readonly edition: string;
  /** The controls of the deterministic report, for the active policy. */
  readonly controls: readonly ControlFinding[];
  /** The period whose recorded decisions the report counts: `7d`. */
  readonly since: string;
  readonly rules: readonly RuleUse[];
  readonly contracts: number;
  readonly identities: number;
  readonly default_action: string;
  readonly audit_enabled: boolean;
  readonly retention_days: number;
  readonly vocabulary: PromptVocabulary;
}

const TASK = `You help to close the gaps that a compliance report has found in the policy of a rule engine that guards AI agents.
The service has computed the status of each control itself, and a control is never better than its status says.
First write a gap analysis of at most 500 words: for each control with the status "gap" or "partly" its id, what is missing,
and the rule of your file that closes it, or why no rule can. Then name the controls with the status "outside this service" in
one line. Claim nothing that the report does not show, and never say that anybody is compliant. Then write one file,
policies/compliance-<framework>.yaml, with the rules that close gaps. Give them the priority 50 and names that begin with the
framework. The service reports on your file in the same way, so propose only rules that close something.`;

/** Proposes a policy set that closes the gaps of a compliance report. */
export const complianceAdvisor: Advisor<PolicySetRequest> = {
  name: 'compliance',
  brief: (request) => ({
    system: `${buildInstructions(TASK, true)}\n\n${describeControls(request)}`,
    user: formatUntrusted('report', describeReport(request)),
  }),
  read: (answer, { framework, since, controls }) => {
    const { prose, files, problems } = parseAnswer(answer, {
      path: DOCUMENT_PATH,
      expects: '`policies/` and a name of lower-case letters, digits, `-` and `_` with `.yaml`',
      unnamed: `policies/compliance-${framework}.yaml`,
    });
    return {
      summary: boundSummary(prose),
      artifacts: files,
      problems: prose === '' && files.length === 0 ? ['The answer is empty.'] : problems,
      metadata: {
        framework,
        since,
        controls: controls.map(({ control_id, title, status, missing, limits }) => {
          return { control_id, title, status, missing, limits };
        }),
      },
    };
  },
};

/** The texts of the framework. They are part of this program, so they are no untrusted data. */
function describeControls({ framework, title, edition, controls }: PolicySetRequest): string {
  const lines = controls.map(({ control_id, title: name, requirement, contribution }) => {
    const here = contribution === '' ? '' : ` Here: ${contribution}`;
    return `- ${control_id}, ${name}: ${requirement}${here}`;
  });
  return `The framework is ${title} (${framework}), ${edition}. Its controls:\n${lines.join('\n')}`;
}

const RULES_MAX = 150;

function describeReport({ rules, vocabulary, ...request }: PolicySetRequest): object {
  return {
    period: request.since,
    controls: request.controls.map((finding) => sanitizeFinding(finding, vocabulary)),
    default_action: request.default_action,
    contracts: request.contracts,
    identities: request.identities,
    audit_enabled: request.audit_enabled,
    retention_days: request.retention_days,
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
