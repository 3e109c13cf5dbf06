export type { Skill } from '../packages/package.ts';
export type { PolicyEffect, PolicyRecord } from './policy-effect.ts';
export {
  isTemplate,
  type ListedSkill,
  listSkills,
  type OpenPlan,
  planToAdd,
  planToRemove,
  type SkillPlan,
} from './skills.ts';
export { openBundledSkills } from './sources/bundled.ts';
export { openSkill } from './sources/index.ts';
export { type NpmSearchResult, searchNpm } from './sources/npm.ts';
