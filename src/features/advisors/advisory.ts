import { autoConfigAdvisor } from '../../core/advisors/auto-config.ts';
import { complianceAdvisor } from '../../core/advisors/compliance.ts';
import { incidentAdvisor } from '../../core/advisors/incident.ts';
import { integrationAdvisor } from '../../core/advisors/integration.ts';
import type { ProjectOutline } from '../../core/advisors/project-outline.ts';
import { recommenderAdvisor } from '../../core/advisors/recommender.ts';
import type { AdvisorPrompt } from '../../core/advisors/types.ts';
import { buildPromptVocabulary } from '../../core/advisors/vocabulary.ts';
import type { Policy } from '../../core/types/index.ts';
import { type AgentFramework, readFrameworkGuard } from '../../operations/agent-frameworks.ts';
import type { FrameworkId } from '../../operations/compliance-frameworks.ts';
import { type Context, Refusal } from '../../operations/operation.ts';
import type { Config } from '../../runtime/config/index.ts';
import { type CallSubject, recordCall, requireBudget } from './call-records.ts';
import { checkDocuments } from './check-artifacts.ts';
import { checkCode } from './check-code.ts';
import { collectAggregates, listRuleUses } from './collect-aggregates.ts';
import { collectIncident } from './collect-incident.ts';
import { compareControls } from './control-changes.ts';
import { readAdapterReference } from './integration-targets.ts';
import { replayProposal } from './replay-proposal.ts';
import { type AdvisorCall, type AdvisorOutcome, type AdvisorStep, runAdvisor } from './run-advisor.ts';
import { parseSince, resolveAdvisorScope } from './scope.ts';

/** A prepared call of an advisor: its data is collected, and nothing was sent. */
export interface PreparedCall {
  readonly prompt: AdvisorPrompt;
  /** Asks the model, and writes the audit event of the call. */
  readonly run: (ports: RunPorts) => Promise<AdvisorOutcome>;
}

/** The surroundings of a running call. */
export interface RunPorts {
  readonly signal: AbortSignal;
  readonly onProgress?: (step: AdvisorStep) => void;
}

type Check = NonNullable<AdvisorCall<unknown>['check']>;

/** Prepares an explanation of one event. @throws Refusal `not_found` */
export async function prepareExplanation(eventId: string, context: Context): Promise<PreparedCall> {
  const input = await collectIncident(eventId, resolveAdvisorScope(context), context);
  const { event, around } = input;
  const metadata = {
    event_id: eventId,
    boundary: event.boundary,
    action: event.action,
    policy_name: event.policy_name,
    context_event_count: around.length,
  };
  return prepareCall({ advisor: incidentAdvisor, input, metadata }, { event_id: eventId }, context);
}

/** Prepares recommendations from the totals of a period. */
export async function prepareRecommendations(
  since: string | undefined,
  context: Context,
): Promise<PreparedCall> {
  const { runtime } = context;
  const scope = resolveAdvisorScope(context);
  const period = parseSince(since, runtime.now_ms());
  const config = await readConfig(context);
  const input = await collectAggregates(period, scope, runtime);
  const check: Check = (files, signal) =>
    checkDocuments(files, {
      ...{ config, signal },
      replay: (next) => replayProposal(next, period.since, scope.tenants, runtime, signal),
    });
  return prepareCall({ advisor: recommenderAdvisor, input, check }, { since: period.since }, context);
}

/** Prepares a policy set for a compliance framework, from the deterministic report on the active policy. */
export async function prepareCompliance(framework: FrameworkId, context: Context): Promise<PreparedCall> {
  const { runtime } = context;
  const scope = resolveAdvisorScope(context);
  const config = await readConfig(context);
  const policy = runtime.policy();
  const { since, since_ms } = parseSince(undefined, runtime.now_ms());
  const window = {
    ...{ framework, since_ms, until_ms: runtime.now_ms(), agents: scope.agents },
    tenants: scope.tenants === '*' ? ['default'] : scope.tenants,
  };
  const report = (policy: Policy, withEvidence: boolean) =>
    runtime.findComplianceGaps({ ...window, policy, with_evidence: withEvidence });
  // The proposal is for all tenants, so the rules of one are nothing to tell a model.
  const shared = { ...policy, rules: policy.rules.filter(({ tenant_id }) => tenant_id === null) };
  const input = {
    ...{ framework, since },
    ...(await report(policy, config.audit.enabled)),
    rules: listRuleUses(shared, scope, [], []),
    contracts: policy.contracts.length,
    identities: policy.identities.length,
    default_action: policy.default_action,
    audit_enabled: config.audit.enabled,
    retention_days: config.audit.max_age_days,
    vocabulary: buildPromptVocabulary(shared),
  };
  const check: Check = (files, signal) =>
    checkDocuments(files, {
      ...{ config, signal },
      findControlChanges: async (next) =>
        compareControls(input.controls, (await report(next, false)).controls),
      ...(config.audit.enabled && {
        replay: (next) => replayProposal(next, since, scope.tenants, runtime, signal),
      }),
    });
  return prepareCall({ advisor: complianceAdvisor, input, check }, { framework }, context);
}

/** A project for which a configuration is proposed. */
export interface ProjectSubject {
  readonly outline: ProjectOutline;
  readonly has_configuration: boolean;
  /** The configuration of the project, to which the files would be added. */
  readonly config: Config;
}

/** Prepares a configuration for a project. */
export async function prepareAutoConfig(subject: ProjectSubject, context: Context): Promise<PreparedCall> {
  const { outline, has_configuration, config } = subject;
  const readsIdentities = !has_configuration || config.paths.identity_files.length > 0;
  const input = { outline, has_configuration, reads_identities: readsIdentities };
  const check: Check = (files, signal) => checkDocuments(files, { config, signal });
  return prepareCall({ advisor: autoConfigAdvisor, input, check }, {}, context);
}

/** Prepares integration code for a framework. */
export async function prepareIntegration(
  framework: AgentFramework,
  outline: ProjectOutline,
  context: Context,
): Promise<PreparedCall> {
  const { name, label, language, file } = framework;
  const input = {
    ...{ target: name, label, language, outline },
    adapter: await readFrameworkGuard(framework),
    adapter_file: file,
    reference: await readAdapterReference(framework),
  };
  return prepareCall({ advisor: integrationAdvisor, input, check: checkCode }, { framework: name }, context);
}

/** The most calls of one process at a time. */
const RUNNING_MAX = 4;
let running = 0;

function prepareCall<Input>(call: AdvisorCall<Input>, subject: CallSubject, context: Context): PreparedCall {
  const { settings, backend } = context.runtime.advisors;
  return {
    prompt: call.advisor.brief(call.input),
    run: async (ports) => {
      if (running >= RUNNING_MAX)
        throw new Refusal('too_many_requests', 'Other advisors are running. Try again when they have ended.');
      running += 1;
      try {
        await requireBudget(settings, context);
        const beganMs = performance.now();
        const model = settings.backend?.model ?? '';
        const outcome = await runAdvisor(call, { backend, model, ...ports });
        await recordCall(outcome, subject, performance.now() - beganMs, context);
        return outcome;
      } finally {
        running -= 1;
      }
    },
  };
}

/** @throws Refusal `unavailable` if the configuration on disk is not valid */
async function readConfig({ runtime }: Context): Promise<Config> {
  const read = await runtime.configuration();
  if (read.ok) return read.config;
  throw new Refusal(
    'unavailable',
    'The configuration on disk is not valid. Check it with `customshouse validate`.',
  );
}
