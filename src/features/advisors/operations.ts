import type { TSchema } from 'typebox';
import type { ProjectOutline } from '../../core/advisors/project-outline.ts';
import type { AdvisorId, AdvisorResult } from '../../core/advisors/types.ts';
import { Type } from '../../core/schema.ts';
import { FRAMEWORK_IDS, findFrameworkId } from '../../operations/compliance-frameworks.ts';
import { type Context, defineOperation, Refusal, type RefusalCode } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { PreparedCall } from './advisory.ts';
import { findIntegrationTarget, INTEGRATION_TARGET_NAMES } from './integration-targets.ts';

const HOW_TO_ENABLE =
  'The intelligence layer is not configured. Set `intelligence.enabled: true` and `intelligence.backend` in service.yaml, and restart the service.';

/** Builds the refusal of a layer that is off; `null` if it is on. Runs before the caller and the body are checked. */
function findDisabledRefusal(advisorName: AdvisorId | null) {
  return ({ advisors }: Runtime): Refusal | null => {
    const { enabled, backend } = advisors.settings;
    if (enabled && backend !== undefined) return null;
    const extra = advisorName === null ? {} : buildEmptyResult(advisorName);
    return new Refusal('not_configured', HOW_TO_ENABLE, [], extra);
  };
}

function buildEmptyResult(advisorName: AdvisorId): Readonly<Record<string, unknown>> {
  const result: AdvisorResult = {
    advisor_name: advisorName,
    status: 'no_backend',
    summary: HOW_TO_ENABLE,
    artifacts: {},
    raw_response: '',
    model_used: '',
    metadata: {},
  };
  return { ...result };
}

const text = Type.String();

const advisorResultSchema = Type.Object({
  advisor_name: { ...text, description: 'The advisor: `incident`, `recommender` ...' },
  status: Type.Enum(['success', 'error', 'no_backend'], {
    description: '`error` comes with HTTP 502, `no_backend` with 503.',
  }),
  summary: { ...text, description: 'For people. Text of a model: show it as text, never as HTML.' },
  artifacts: Type.Record(Type.String(), text, {
    description: 'Proposed files, content by path. They were compiled and linted, and nothing was applied.',
  }),
  raw_response: { ...text, description: 'The whole answer of the model.' },
  model_used: text,
  metadata: Type.Unsafe<object>({
    type: 'object',
    description: 'Data of the advisor. `review` holds the effect of proposed files on the policy.',
  }),
});

const eventInputSchema = Type.Object({
  event_id: Type.String({ minLength: 1, maxLength: 64, description: 'The audit event.' }),
});

const names = Type.Array(Type.String({ maxLength: 256 }), { maxItems: 2_000 });

const projectInputSchema = Type.Object(
  {
    languages: Type.Optional(names),
    packages: Type.Optional(names),
    imports: Type.Optional(names),
    frameworks: Type.Optional(names),
    tools: Type.Optional(
      Type.Array(Type.Object({ name: Type.String({ maxLength: 256 }), parameters: Type.Optional(names) }), {
        maxItems: 2_000,
      }),
    ),
    agents: Type.Optional(names),
    mcp_servers: Type.Optional(names),
    file_count: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  {
    description:
      'The structure of the project, names only. Names that look like data are left out of the prompt.',
  },
);

const projectPathSchema = Type.String({
  maxLength: 4_096,
  description:
    'Instead of `project`: a folder of this machine below `scan.file_roots`, whose names the service reads.',
});

/** The parts that all operations of advisors share. */
const shared = {
  needs: 'journal',
  output: advisorResultSchema,
  answer: null,
} as const satisfies { readonly output: TSchema; readonly needs: 'journal'; readonly answer: null };

const REFUSALS: readonly RefusalCode[] = [
  'not_configured',
  'budget_exceeded',
  'too_many_requests',
  'upstream_failed',
];
const EXPLAIN = 'Sends the metadata of one event, and of up to five around it, to the configured model.';
const AFTER =
  'Answers 502 with the status `error` if the model fails, and 503 while the layer is not configured.';

export const intelligenceStatus = defineOperation({
  name: 'intelligence_status',
  summary: 'Show the advisory layer',
  description: `Returns if advisors are enabled, and which backend and model they use. ${AFTER}`,
  http: { method: 'GET', path: '/v1/intelligence/status' },
  permission: 'policy:read',
  needs: 'live',
  unavailable: findDisabledRefusal(null),
  input: Type.Object({}),
  output: Type.Object({
    enabled: Type.Boolean(),
    backend: text,
    model: text,
    timeout_seconds: Type.Integer({
      description: 'Time limit of one answer of the model, in seconds. An advisor asks it twice at most.',
    }),
  }),
  example: {},
  answer: null,
  refusals: ['not_configured'],
  run: (_input, { runtime }) => {
    const { enabled, backend } = runtime.advisors.settings;
    return {
      enabled,
      backend: backend?.provider ?? '',
      model: backend?.model ?? '',
      timeout_seconds: backend?.timeout_seconds ?? 0,
    };
  },
});

export const intelligenceExplain = defineOperation({
  ...shared,
  name: 'intelligence_explain',
  summary: 'Explain an event',
  description: `Classifies and explains a decision. ${EXPLAIN} ${AFTER}`,
  http: { method: 'POST', path: '/v1/intelligence/explain' },
  permission: 'intelligence:explain',
  for_users: 'if_named',
  unavailable: findDisabledRefusal('incident'),
  input: eventInputSchema,
  example: { event_id: 'evt_0123456789abcdef01234567' },
  refusals: [...REFUSALS, 'not_found'],
  run: ({ event_id }, context) => explainEvent(event_id, context),
});

export const dashboardIntelligenceExplain = defineOperation({
  ...shared,
  name: 'dashboard_intelligence_explain',
  summary: 'Explain an event on the dashboard',
  description: `Classifies and explains a decision for a user. ${EXPLAIN} ${AFTER}`,
  http: { method: 'POST', path: '/v1/dashboard/intelligence/explain' },
  permission: 'intelligence:explain',
  for_users: true,
  unavailable: findDisabledRefusal('incident'),
  input: eventInputSchema,
  example: { event_id: 'evt_0123456789abcdef01234567' },
  refusals: [...REFUSALS, 'not_found'],
  run: ({ event_id }, context) => explainEvent(event_id, context),
});

export const intelligenceRecommend = defineOperation({
  ...shared,
  name: 'intelligence_recommend',
  summary: 'Recommend policy changes',
  description: `Proposes policies from the totals of a period. Each proposal is compiled, linted and replayed against recorded decisions. Nothing changes. ${AFTER}`,
  http: { method: 'POST', path: '/v1/intelligence/recommend' },
  permission: 'intelligence:recommend',
  for_users: 'if_named',
  unavailable: findDisabledRefusal('recommender'),
  input: Type.Object({
    since: Type.Optional(Type.String({ maxLength: 32, description: 'A duration before now. Default `7d`.' })),
  }),
  example: { since: '7d' },
  refusals: REFUSALS,
  run: async ({ since }, context) => {
    const { prepareRecommendations } = await openAdvisory();
    return answerCall(await prepareRecommendations(since, context), context);
  },
});

export const intelligenceCompliance = defineOperation({
  ...shared,
  name: 'intelligence_compliance',
  summary: 'Propose a policy set for a compliance framework',
  description: `Reads the compliance report of the active policy, and proposes rules that close its gaps. The report of the proposal is part of the result. Nothing changes. ${AFTER}`,
  http: { method: 'POST', path: '/v1/intelligence/compliance' },
  permission: 'intelligence:compliance',
  for_users: 'if_named',
  unavailable: findDisabledRefusal('compliance'),
  input: Type.Object({
    framework: Type.String({
      maxLength: 32,
      description: `One of ${FRAMEWORK_IDS.join(', ')}, in any case.`,
    }),
  }),
  example: { framework: 'HIPAA' },
  refusals: REFUSALS,
  run: async (input, context) => {
    const framework = findFrameworkId(input.framework);
    if (framework === null) throw buildChoiceRefusal('framework', FRAMEWORK_IDS);
    const { prepareCompliance } = await openAdvisory();
    return answerCall(await prepareCompliance(framework, context), context);
  },
});

export const intelligenceAutoConfig = defineOperation({
  ...shared,
  name: 'intelligence_auto_config',
  summary: 'Propose a configuration for a project',
  description: `Proposes configuration, policies, contracts and identities from the names in a project. The client reads the project and sends names, never files. ${AFTER}`,
  http: { method: 'POST', path: '/v1/intelligence/auto-config' },
  permission: 'intelligence:auto-config',
  for_users: 'if_named',
  unavailable: findDisabledRefusal('auto-config'),
  input: Type.Object({ project: Type.Optional(projectInputSchema), path: Type.Optional(projectPathSchema) }),
  example: {
    project: { languages: ['python'], tools: [{ name: 'send_email', parameters: ['to', 'body'] }] },
  },
  refusals: REFUSALS,
  run: async ({ project, path }, context) => {
    if (path === undefined && Object.keys(project ?? {}).length === 0) throw buildNoProjectRefusal();
    const outline = await readOutline(project, path, context);
    const read = await context.runtime.configuration();
    if (!read.ok) throw new Refusal('unavailable', 'The configuration on disk is not valid.');
    const subject = { outline, has_configuration: true, config: read.config };
    const { prepareAutoConfig } = await openAdvisory();
    return answerCall(await prepareAutoConfig(subject, context), context);
  },
});

export const intelligenceIntegrate = defineOperation({
  ...shared,
  name: 'intelligence_integrate',
  summary: 'Propose integration code for a framework',
  description: `Writes code that connects the tools of a project to this service, from the shipped adapter. The code is parsed and never run. ${AFTER}`,
  http: { method: 'POST', path: '/v1/intelligence/integrate' },
  permission: 'intelligence:integrate',
  for_users: 'if_named',
  unavailable: findDisabledRefusal('integration'),
  input: Type.Object({
    target: Type.String({ maxLength: 64, description: `One of ${INTEGRATION_TARGET_NAMES.join(', ')}.` }),
    project: Type.Optional(projectInputSchema),
    path: Type.Optional(projectPathSchema),
  }),
  example: { target: 'langchain', project: { tools: [{ name: 'send_email' }] } },
  refusals: REFUSALS,
  run: async ({ target, project, path }, context) => {
    const framework = findIntegrationTarget(target);
    if (framework === null) throw buildChoiceRefusal('target', INTEGRATION_TARGET_NAMES);
    const outline = await readOutline(project, path, context);
    const { prepareIntegration } = await openAdvisory();
    return answerCall(await prepareIntegration(framework, outline, context), context);
  },
});

type WrittenOutline = {
  readonly [Key in keyof Omit<ProjectOutline, 'tools'>]?: ProjectOutline[Key];
} & { readonly tools?: readonly { readonly name: string; readonly parameters?: readonly string[] }[] };

/** Returns the outline that a client sent, or that of a folder of this machine. */
async function readOutline(
  project: WrittenOutline | undefined,
  path: string | undefined,
  { runtime }: Context,
): Promise<ProjectOutline> {
  if (project !== undefined || path === undefined) return completeOutline(project ?? {});
  const { readServerProject } = await import('./server-project.ts');
  return readServerProject(path, runtime.limits);
}

function buildNoProjectRefusal(): Refusal {
  const message = 'is required, with the names of tools, agents or packages, unless there is `path`';
  return new Refusal('invalid_request', `\`project\` ${message}.`, [{ path: 'project', message }]);
}

/** Fills in what a client left out. */
function completeOutline(written: WrittenOutline): ProjectOutline {
  return {
    languages: written.languages ?? [],
    packages: written.packages ?? [],
    imports: written.imports ?? [],
    frameworks: written.frameworks ?? [],
    tools: (written.tools ?? []).map(({ name, parameters = [] }) => ({ name, parameters })),
    agents: written.agents ?? [],
    mcp_servers: written.mcp_servers ?? [],
    file_count: written.file_count ?? 0,
    is_partial: written.is_partial ?? false,
  };
}

/** Loads the advisors on demand, because most services run without them. */
const openAdvisory = () => import('./advisory.ts');

async function explainEvent(eventId: string, context: Context) {
  const { prepareExplanation } = await openAdvisory();
  return answerCall(await prepareExplanation(eventId, context), context);
}

/** Runs a call. @throws Refusal with the result of an advisor that failed */
async function answerCall(prepared: PreparedCall, context: Context) {
  const signal = context.signal?.() ?? new AbortController().signal;
  const { result } = await prepared.run({ signal });
  if (result.status === 'success')
    return { ...result, artifacts: { ...result.artifacts }, metadata: { ...result.metadata } };
  const code = result.status === 'no_backend' ? 'not_configured' : 'upstream_failed';
  throw new Refusal(code, result.summary, [], { ...result });
}

function buildChoiceRefusal(path: string, choices: readonly string[]): Refusal {
  const message = `must be one of ${choices.join(', ')}`;
  return new Refusal('invalid_request', `\`${path}\` ${message}.`, [{ path, message }]);
}
