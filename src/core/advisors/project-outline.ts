import { filterName, WITHHELD } from './data-filter.ts';

/** The structure of a project: names only, never code, values or comments. */
export interface ProjectOutline {
  readonly languages: readonly string[];
  /** Names of dependencies from manifests. */
  readonly packages: readonly string[];
  /** Names of imported modules, without paths. */
  readonly imports: readonly string[];
  /** Frameworks and model APIs that the names show. */
  readonly frameworks: readonly string[];
  readonly tools: readonly OutlineTool[];
  readonly agents: readonly string[];
  readonly mcp_servers: readonly string[];
  readonly file_count: number;
  /** True if a limit ended the reading. */
  readonly is_partial: boolean;
}

/** A tool that a project defines. */
export interface OutlineTool {
  readonly name: string;
  /** Names of its parameters. */
  readonly parameters: readonly string[];
}

const NAMES_MAX = 150;
const PARAMETERS_MAX = 20;

/** Returns an outline as it may be sent. A name that looks like data is left out. */
export function sanitizeOutline(outline: ProjectOutline): ProjectOutline {
  return {
    languages: keepNames(outline.languages),
    packages: keepPackages(outline.packages),
    imports: keepPackages(outline.imports),
    frameworks: keepNames(outline.frameworks),
    tools: outline.tools.slice(0, NAMES_MAX).flatMap(({ name, parameters }) => {
      const sent = filterName(name);
      return sent === WITHHELD ? [] : [{ name: sent, parameters: keepNames(parameters, PARAMETERS_MAX) }];
    }),
    agents: keepNames(outline.agents),
    mcp_servers: keepNames(outline.mcp_servers),
    file_count: Math.min(1_000_000, Math.max(0, Math.trunc(Number(outline.file_count)) || 0)),
    is_partial: outline.is_partial === true,
  };
}

function keepNames(names: readonly string[], namesMax = NAMES_MAX): readonly string[] {
  const kept = names.slice(0, namesMax).map(filterName);
  return [...new Set(kept)].filter((name) => name !== WITHHELD);
}

/** Scoped packages begin with `@`, which is no part of other names. */
function keepPackages(names: readonly string[]): readonly string[] {
  const kept = names.slice(0, NAMES_MAX).flatMap((name) => {
    if (typeof name !== 'string') return [];
    const sent = filterName(name.replace(/^@/, ''));
    return sent === WITHHELD ? [] : [name.startsWith('@') ? `@${sent}` : sent];
  });
  return [...new Set(kept)];
}
