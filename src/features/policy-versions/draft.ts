import { Type } from '../../core/schema.ts';
import type { Json } from '../../core/types/index.ts';
import { buildPolicyRefusal, readActive } from '../../operations/managed-change.ts';
import { type Context, Refusal } from '../../operations/operation.ts';
import { dropBlankName, resolveTenant } from '../../operations/subject.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { ManagedPolicy } from '../../runtime/managed-policy/managed-policy.ts';
import type { PolicyResult } from '../../runtime/policies/load-policy.ts';
import { documentText } from './fields.ts';

/** The members of an input that replace parts of the managed policy. Without them the active policy is examined. */
export const draftInput = {
  text: Type.Optional({
    ...documentText,
    description: 'The policy document to examine. Default: the active one.',
  }),
  tenant_id: Type.Optional(
    Type.Nullable(Type.String({ maxLength: 256, description: 'The tenant to whom `policies` apply.' })),
  ),
  policies: Type.Optional(
    Type.Array(Type.Unsafe<object>({ type: 'object' }), {
      maxItems: 1_000,
      description: 'The saved rules of the tenant to examine. Default: the active ones.',
    }),
  ),
} as const;

/** A draft of the managed policy. */
interface Draft {
  readonly text?: string;
  readonly tenant_id?: string | null;
  readonly policies?: readonly object[];
}

/** Reads the present configuration. @throws Refusal if it is not valid */
export async function readConfig({ runtime }: Context): Promise<Config> {
  const read = await runtime.configuration();
  if (!read.ok) throw buildPolicyRefusal(read.problems);
  return read.config;
}

/** Compiles the policy that would be active with a draft. Nothing changes. */
export async function compileManagedDraft(draft: Draft, context: Context): Promise<PolicyResult> {
  const { runtime } = context;
  return runtime.compileDraft({ managed: applyDraft(readActive(context), draft, context) });
}

function applyDraft(active: ManagedPolicy, draft: Draft, context: Context): ManagedPolicy {
  const { document } = active;
  const next =
    draft.text === undefined
      ? active
      : { ...active, document: { version: (document?.version ?? 0) + 1, text: draft.text } };
  if (draft.policies === undefined) return next;
  if (dropBlankName(draft.tenant_id) === null)
    throw new Refusal('invalid_request', '`policies` needs `tenant_id`, the tenant to whom they apply.');
  const tenantId = resolveTenant(draft, context);
  const version = (active.tenants.find((each) => each.tenant_id === tenantId)?.version ?? 0) + 1;
  const set = { tenant_id: tenantId, version, policies: draft.policies as readonly Json[] };
  return { ...next, tenants: [...active.tenants.filter((each) => each.tenant_id !== tenantId), set] };
}
