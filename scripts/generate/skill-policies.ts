import { stringify } from 'yaml';
import { policyPacks } from '../../src/core/policy/templates/index.ts';

/**
 * Returns the policy file of each bundled skill that carries a policy pack, so that a pack is written once.
 */
export function renderSkillPolicies(): readonly { readonly path: string; readonly text: string }[] {
  return policyPacks.map(({ name, description, document }) => ({
    path: `skills/${name}/policies/${name}.yaml`,
    text: `# ${description}\n# The template \`${name}\` of the service.\n${stringify(document, { lineWidth: 110 })}`,
  }));
}
