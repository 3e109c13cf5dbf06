import { parse as parseToml } from 'smol-toml';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the names of the dependencies in a manifest; an empty list for a manifest that cannot be read. */
export function readManifestPackages(file: string, text: string): readonly string[] {
  try {
    if (file === 'package.json') return readPackageJson(JSON.parse(text));
    if (file === 'pyproject.toml') return readPyproject(parseToml(text));
    return readRequirements(text);
  } catch {
    return [];
  }
}

/** Files with the MCP servers of a project. */
export const MCP_FILES: ReadonlySet<string> = new Set([
  '.mcp.json',
  'mcp.json',
  'claude_desktop_config.json',
]);

/** Returns the names of the MCP servers in a configuration; commands, addresses and variables are not read. */
export function readMcpServers(text: string): readonly string[] {
  try {
    const written = asFields(JSON.parse(text));
    return [...Object.keys(asFields(written.mcpServers)), ...Object.keys(asFields(written.servers))];
  } catch {
    return [];
  }
}

function readPackageJson(written: unknown): readonly string[] {
  const { dependencies, devDependencies, peerDependencies } = asFields(written);
  return [dependencies, devDependencies, peerDependencies].flatMap((list) => Object.keys(asFields(list)));
}

function readPyproject(written: unknown): readonly string[] {
  const { project, tool, 'dependency-groups': groups } = asFields(written);
  const { dependencies, 'optional-dependencies': optional } = asFields(project);
  const lists = [dependencies, ...Object.values(asFields(optional)), ...Object.values(asFields(groups))];
  const poetry = asFields(asFields(asFields(tool).poetry).dependencies);
  return [...lists.flatMap(readList), ...Object.keys(poetry).filter((name) => name !== 'python')];
}

function readList(list: unknown): readonly string[] {
  return Array.isArray(list)
    ? list.flatMap((each) => (typeof each === 'string' ? readRequirement(each) : []))
    : [];
}

function readRequirements(text: string): readonly string[] {
  return text.split('\n').slice(0, 2_000).flatMap(readRequirement);
}

function readRequirement(line: string): readonly string[] {
  const name = /^\s{0,8}([A-Za-z0-9][A-Za-z0-9._-]{0,63})(?![:\w])/.exec(line)?.[1];
  return name === undefined ? [] : [name.toLowerCase()];
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
