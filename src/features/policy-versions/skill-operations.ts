import { Type } from '../../core/schema.ts';
import { buildPolicyRefusal, confirmInput } from '../../operations/managed-change.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import type { Skill } from '../../runtime/packages/package.ts';
import type { ListedSkill } from '../../runtime/skills/index.ts';
import { savedDocument } from './document-operations.ts';
import { appendPart, type InstalledPart, listParts } from './document-parts.ts';
import { policyTest } from './draft-operations.ts';
import { buildLineSchema } from './fields.ts';
import { installPart, readCurrentDocument, uninstallPart } from './part-change.ts';

const skillName = Type.String({
  minLength: 1,
  maxLength: 128,
  description: 'The name of a skill that comes with the service, in any case of letters.',
});

const skillFields = {
  name: Type.String(),
  version: Type.Nullable(
    Type.String({ description: 'The version that comes with the service; `null` if none does.' }),
  ),
  description: Type.String(),
  keywords: Type.Array(Type.String()),
  installed_in: Type.Enum(['document', 'files', null], {
    description:
      '`document`: installed here, in the policy document. `files`: installed with `customshouse skills add`, next to the configuration.',
  }),
  installed_version: Type.Nullable(Type.String()),
  state: Type.Enum(['available', 'intact', 'changed', 'missing'], {
    description: '`changed` or `missing`: its text or files are not those that were installed.',
  }),
} as const;

export const skillsList = defineOperation({
  name: 'skills_list',
  summary: 'List skills',
  description:
    'The skills that come with the service, and those that are installed: in the policy document, or as files next to the configuration.',
  http: { method: 'GET', path: '/v1/dashboard/skills' },
  permission: 'dashboard:view',
  tenants: 'all',
  for_users: true,
  needs: 'store',
  input: Type.Object({}),
  output: Type.Object({
    skills: Type.Array(Type.Object(skillFields), { description: 'By name.' }),
    count: Type.Integer(),
  }),
  example: {},
  answer: null,
  refusals: ['unavailable'],
  async run(_input, context) {
    const skills = await listAllSkills(context);
    return { skills: skills.map(({ skill: _, ...rest }) => rest), count: skills.length };
  },
});

export const skillShow = defineOperation({
  name: 'skill_show',
  summary: 'Show a skill',
  description: 'Returns a skill that comes with the service, with its policy documents and test cases.',
  http: { method: 'GET', path: '/v1/dashboard/skills/{skill_name}' },
  permission: 'dashboard:view',
  tenants: 'all',
  for_users: true,
  needs: 'store',
  input: Type.Object({ skill_name: skillName }),
  output: Type.Object({
    ...skillFields,
    files: Type.Array(
      Type.Object({
        path: Type.String(),
        kind: Type.String({ description: 'The kind of file: `policy`, `cases` or another.' }),
        text: Type.String(),
      }),
      { description: 'Empty for a skill that does not come with the service.' },
    ),
  }),
  example: { skill_name: 'finance' },
  answer: null,
  refusals: ['not_found', 'unavailable'],
  async run({ skill_name }, context) {
    const wanted = skill_name.trim().toLowerCase();
    const found = (await listAllSkills(context)).find(({ name }) => name === wanted);
    if (found === undefined) throw buildNoSuchSkillRefusal();
    const { skill, ...rest } = found;
    const files = (skill?.files ?? []).map(({ path, kind, text }) => ({ path, kind: kind.holds, text }));
    return { ...rest, files };
  },
});

const changeInput = Type.Object({
  name: skillName,
  note: Type.Optional(buildLineSchema('Why; shown in the history.')),
  ...confirmInput,
});

export const skillInstall = defineOperation({
  name: 'skill_install',
  summary: 'Install a skill',
  description:
    'Adds the policies of a skill that comes with the service to the end of the policy document, saves the result as the next version, and activates it in all workers. `warnings` names the test cases of the skill that do not pass under the whole policy. Other skills are installed with `customshouse skills add`.',
  http: { method: 'POST', path: '/v1/dashboard/skills/install' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: changeInput,
  output: savedDocument,
  example: { name: 'pci-dss', confirm_weaker: true, note: 'Asked for by the owner of the data' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid', 'weaker_policy'],
  async run({ name, ...confirmation }, context) {
    const wanted = name.trim().toLowerCase();
    const found = (await listAllSkills(context)).find((each) => each.name === wanted);
    if (found?.skill == null) throw buildNoSuchSkillRefusal();
    const { skill, installed_in } = found;
    if (installed_in === 'files')
      throw new Refusal(
        'conflict',
        `The skill ${wanted} is installed as files. Change it with \`customshouse skills\`.`,
      );
    if (skill.files.some(({ kind }) => kind.holds !== 'policy' && kind.holds !== 'cases'))
      throw new Refusal(
        'conflict',
        `The skill ${wanted} holds more than policies. Install it with \`customshouse skills add ${wanted}\`.`,
      );
    const part = { kind: 'Skill', name: skill.name, version: skill.version } as const;
    const saved = await installPart(part, joinPolicies(skill), confirmation, context);
    return { ...saved, warnings: [...saved.warnings, ...(await runCases(skill, context))] };
  },
});

export const skillRemove = defineOperation({
  name: 'skill_remove',
  summary: 'Remove a skill',
  description:
    'Removes the policies of a skill from the policy document, saves the result as the next version, and activates it in all workers. Policies that were edited since are kept, and the call is refused.',
  http: { method: 'POST', path: '/v1/dashboard/skills/remove' },
  permission: 'policies:edit',
  caller: 'person',
  tenants: 'all',
  needs: 'live',
  input: changeInput,
  output: savedDocument,
  example: { name: 'pci-dss', confirm_weaker: true, note: 'Asked for by the owner of the data' },
  answer: null,
  refusals: ['not_found', 'conflict', 'policy_invalid', 'weaker_policy'],
  run: ({ name, ...confirmation }, context) =>
    uninstallPart({ kind: 'Skill', name: name.trim().toLowerCase() }, confirmation, context),
});

interface KnownSkill {
  readonly name: string;
  readonly version: string | null;
  readonly description: string;
  readonly keywords: string[];
  readonly installed_in: 'document' | 'files' | null;
  readonly installed_version: string | null;
  readonly state: 'available' | 'intact' | 'changed' | 'missing';
  /** `null` if it does not come with the service. */
  readonly skill: Skill | null;
}

async function listAllSkills(context: Context): Promise<readonly KnownSkill[]> {
  const { listSkills, openBundledSkills } = await import('../../runtime/skills/index.ts');
  const read = await context.runtime.configuration();
  if (!read.ok) throw buildPolicyRefusal(read.problems);
  const [bundled, { skills: inFiles }, { text }] = await Promise.all([
    openBundledSkills(),
    listSkills(read.config),
    readCurrentDocument(context),
  ]);
  const parts = listParts(text).filter(({ kind }) => kind === 'Skill');
  const names = new Set([...bundled, ...inFiles, ...parts].map(({ name }) => name));
  return [...names].toSorted().map((name) => {
    const skill = bundled.find((each) => each.name === name) ?? null;
    return {
      name,
      version: skill?.version ?? null,
      description: skill?.description ?? '',
      keywords: [...(skill?.keywords ?? [])],
      ...findInstallation(
        parts.find((part) => part.name === name),
        (part) => isUnchanged(part, skill, text),
        inFiles.find((each) => each.name === name),
      ),
      skill,
    };
  });
}

/** Comments name a part, and an editor can write any. It is what they say if it has the text of the package. */
function isUnchanged(part: InstalledPart, skill: Skill | null, text: string): boolean {
  if (part.is_edited || skill === null) return false;
  const { name, version } = part;
  if (version !== skill.version) return true;
  return text.includes(appendPart('', { kind: 'Skill', name, version }, joinPolicies(skill)));
}

function findInstallation(
  part: InstalledPart | undefined,
  isIntact: (part: InstalledPart) => boolean,
  files: ListedSkill | undefined,
): Pick<KnownSkill, 'installed_in' | 'installed_version' | 'state'> {
  if (part !== undefined) {
    const state = isIntact(part) ? 'intact' : 'changed';
    return { installed_in: 'document', installed_version: part.version, state };
  }
  if (files !== undefined)
    return { installed_in: 'files', installed_version: files.version, state: files.state };
  return { installed_in: null, installed_version: null, state: 'available' };
}

function joinPolicies({ files }: Skill): string {
  const policies = files.filter(({ kind }) => kind.holds === 'policy');
  return policies.map(({ path, text }) => `# ${path}\n${text.trimEnd()}`).join('\n---\n');
}

/** The number of failing cases that an answer names. */
const NAMED_MAX = 10;

/** Runs the cases of a skill under the active policy. Returns one sentence for each that does not pass. */
async function runCases({ files }: Skill, context: Context): Promise<string[]> {
  const warnings: string[] = [];
  for (const { text: cases } of files.filter(({ kind }) => kind.holds === 'cases')) {
    const { results } = await policyTest.run({ cases }, context);
    for (const { name, differences } of results)
      if (differences.length > 0) warnings.push(`The case \`${name}\` does not pass under the whole policy.`);
  }
  return warnings.slice(0, NAMED_MAX);
}

function buildNoSuchSkillRefusal(): Refusal {
  return new Refusal(
    'not_found',
    'No skill of that name comes with the service. `GET /v1/dashboard/skills` lists them.',
  );
}
