import { resolve } from 'node:path';
import { suggestName } from '../../../core/policy/compile/problems.ts';
import { SkillFailure } from '../../packages/failure.ts';
import { readSkill, type Skill } from '../../packages/package.ts';
import { listBundledNames, openBundled } from './bundled.ts';
import { openFolder } from './folder.ts';
import { type NpmContext, openNpm } from './npm.ts';
import { openTarball } from './tarball.ts';

/**
 * Reads the skill that a source names: `npm:name@version`, a `.tgz`, a folder (a path with a slash), or a
 * bundled name. A name that is not bundled is never searched elsewhere.
 * @throws SkillFailure
 */
export async function openSkill(source: string, place: NpmContext): Promise<Skill> {
  if (source.startsWith('npm:')) return readSkill(await openNpm(source.slice('npm:'.length), place));
  const path = resolve(place.cwd, source);
  if (/\.(?:tgz|tar\.gz)$/.test(source)) return readSkill(await openTarball(path, `tarball:${source}`));
  if (source.includes('/') || source === '.' || source === '..')
    return readSkill(await openFolder(path, `folder:${source}`));
  const names = await listBundledNames();
  if (names.includes(source)) return readSkill(await openBundled(source));
  throw new SkillFailure(
    'not_found',
    `No skill of that name comes with the service${suggestName(source, names) || '.'} ${NAMED_OTHERWISE}`,
  );
}

const NAMED_OTHERWISE =
  '`customshouse skills search` lists them. A folder is named with a slash (`./mine`), a package of a registry with `npm:` before it.';
