import identities from '../../../schemas/agent-identity.schema.json';
import policies from '../../../schemas/policy.schema.json';
import cases from '../../../schemas/policy-test.schema.json';
import contracts from '../../../schemas/tool-contract.schema.json';
import type { DocumentSchema } from './schema-completion.ts';
import type { DocumentKind } from './yaml-editor-props.ts';

/** The schemas of what an editor holds. The policy document has rules, contracts and identities. */
export const documentSchemas = {
  policy: [policies, contracts, identities],
  rules: [policies.properties.policies],
  cases: [cases],
} as unknown as Readonly<Record<DocumentKind, readonly DocumentSchema[]>>;
