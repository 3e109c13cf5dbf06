import type { Severity } from '../../../types/index.ts';
import { isHarmlessCall, joinWords, listOperands } from '../../shell/options.ts';
import type { Command } from '../../shell/syntax.ts';
import type { CommandRule } from './rule.ts';

/** Rules for packages: installed from unreviewed sources, or published to everyone. */
export const supplyChainRules: readonly CommandRule[] = [
  {
    id: 'supply_chain.install',
    tag: 'dangerous.supply_chain',
    severity: 'low',
    grade: gradeSource,
    programs:
      'npm npx pnpm yarn bun bunx pip pip3 pipx gem cargo go brew apt apt-get dnf yum snap uv uvx easy_install python python3 sudo code',
    description:
      'Installs for the whole machine, from a foreign index, from an address, or without the checks.',
    safer: 'npm ci',
    saw: installsUntrustedPackage,
    hits: [
      'npm install -g x',
      'pip install --index-url http://x.test/simple a',
      'pip install git+https://x.test/a',
      'npm install http://x.test/a.tgz',
      'pip install --break-system-packages a',
      'npx --yes github:owner/tool',
      'uvx --from git+https://x.test/a a',
      'apt-get install --allow-unauthenticated x',
    ],
    misses: [
      'npm ci',
      'npm install',
      'pip install -r requirements.txt',
      'apt-get update',
      'npm install left-pad',
      'npx @scope/tool src/a.ts',
      'uvx ruff check src/',
    ],
  },
  {
    id: 'supply_chain.publish',
    tag: 'dangerous.supply_chain',
    severity: 'medium',
    programs:
      'npm pnpm yarn cargo gem twine poetry mvn mvnw gradle gradlew docker hatch flit uv dotnet nuget helm bun vsce',
    description: 'Publishes a package, or takes one back, for everyone who uses it.',
    safer: 'npm pack',
    saw: (command) =>
      !isHarmlessCall(command) &&
      (/^(?:dotnet )?nuget (?:push|delete) /.test(`${command.name}${joinWords(command)}`) ||
        listOperands(command)
          .slice(0, 3)
          .some(
            (text) =>
              /^(?:publish|unpublish|deprecate|yank|deploy|release:perform|release:release|publish\w*ToMaven\w*|publishPlugins|upload)$/.test(
                text,
              ) &&
              command.name !== 'docker' &&
              command.name !== 'dotnet' &&
              (command.name !== 'helm' || text !== 'deploy') &&
              !(text === 'deploy' && !/^mvnw?$/.test(command.name)) &&
              !(text === 'upload' && command.name !== 'twine'),
          ) ||
        (command.name === 'gem' && listOperands(command)[0] === 'push')),
    hits: [
      'npm publish',
      'cargo yank --vers 1.0.0 x',
      'mvn deploy',
      './gradlew publish',
      'twine upload dist/*',
      'dotnet nuget push a.nupkg',
    ],
    misses: [
      'npm pack',
      'npm run publish-docs',
      'dotnet publish -c Release',
      'npm publish --dry-run',
      'mvn test',
      'cargo build --release',
    ],
  },
];

function installsUntrustedPackage(command: Command): boolean {
  const text = joinWords(command);
  if (isHarmlessCall(command)) return false;
  if (/ config set .*(?:script-shell|registry|index-url|globalconfig)/.test(text)) return true;
  if (RUNS_PACKAGE.test(`${command.name}${text}`))
    return FOREIGN_PACKAGE.test(text) || namesRepository(command);
  if (!/ (?:install|i|add|global|get) /.test(text) || listOperands(command)[0] === 'hook') return false;
  if (/^(?:npm|pnpm|yarn|bun)$/.test(command.name) && / (?:-g|--global|global add) /.test(text)) return true;
  if (
    / (?:--registry|--index-url|--extra-index-url|-i|--find-links|--trusted-host)[= ]\s*https?:\/\/(?!pypi\.org|registry\.npmjs\.org|test\.pypi\.org)/.test(
      text,
    )
  )
    return true;
  if (
    / (?:git\+)?https?:\/\/\S+(?:\.tgz|\.tar\.gz|\.zip|\.whl|\.git|\/)?\S* /.test(text) &&
    /^(?:npm|pnpm|yarn|pip3?|gem|pipx|uv)$/.test(command.name)
  )
    return true;
  return / (?:--break-system-packages|--allow-unauthenticated|--no-gpg-check|--nogpgcheck|--force-yes|--unsafe-perm|--install-extension) /.test(
    text,
  );
}

/** Programs that fetch a package and run it. */
const RUNS_PACKAGE =
  /^(?:(?:npx|bunx|uvx) |(?:npm|bun) (?:exec|x) |(?:pnpm|yarn) dlx |pipx run |uv (?:tool )?run )/;
/** A package from a repository or an address instead of a registry. */
const FOREIGN_PACKAGE =
  / (?:(?:--(?:from|package|spec|with)|-p)[= ])?(?:github|gitlab|bitbucket|gist):\w| (?:git\+(?:https?|ssh|file):|https?:\/\/\S+\.(?:tgz|tar\.gz|git|zip|whl))/;

/** `npx owner/name` is a repository at GitHub. */
function namesRepository(command: Command): boolean {
  const [first = ''] = listOperands(command);
  return command.name === 'npx' && /^[\w-]+\/[\w.-]+$/.test(first) && !/\.[cm]?[jt]sx?$/.test(first);
}

/** The default registries, whose names in a command change nothing. */
const DEFAULT_REGISTRY =
  /^https:\/\/(?:pypi\.org\/simple|registry\.npmjs\.org|registry\.yarnpkg\.com|rubygems\.org|index\.crates\.io|proxy\.golang\.org)\/?$/;

/** Grades an installation: `medium` from an address or another registry, `low` for the whole machine only. */
function gradeSource(command: Command): Severity {
  const text = joinWords(command);
  if (
    / script-shell | --trusted-host|--allow-unauthenticated|--force-yes|--no-gpg-check|--nogpgcheck|-unsafe-perm/.test(
      text,
    )
  )
    return 'medium';
  if (RUNS_PACKAGE.test(`${command.name}${text}`)) return 'medium';
  const addresses = text.match(/(?:git\+)?(?:https?|ssh|git|ftp|file):\/\/[^\s'"]{1,300}/g) ?? [];
  return addresses.every((address) => DEFAULT_REGISTRY.test(address)) ? 'low' : 'medium';
}
