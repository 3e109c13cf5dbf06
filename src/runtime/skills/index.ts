export type { Skill } from '../packages/package.ts';
export type { Effect, PolicyRecord } from './effect.ts';
export {
  isTemplate,
  type ListedSkill,
  listSkills,
  type OpenPlan,
  planToAdd,
  planToRemove,
  type SkillPlan,
} from './skills.ts';
export { bundledSkills } from './sources/bundled.ts';
export { skillOf } from './sources/index.ts';
export { type NpmFound, searchNpm } from './sources/npm.ts';
