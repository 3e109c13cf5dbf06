import { boundSummary, parseAnswer } from './answer.ts';
import { buildInstructions, DOCUMENT_PATH, PROJECT_PATH } from './instructions.ts';
import { type ProjectOutline, sanitizeOutline } from './project-outline.ts';
import type { Advisor } from './types.ts';
import { formatUntrusted } from './untrusted.ts';

/** A project, and whether it has a configuration already. */
export interface AutoConfigRequest {
  readonly outline: ProjectOutline;
  /** An existing `service.yaml` is never replaced by a proposal. */
  readonly has_configuration: boolean;
  /** The configuration reads `agents/*.yaml`. Without a configuration the proposal says so itself. */
  readonly reads_identities: boolean;
}

const TASK = `You propose the first configuration of a rule engine that guards the AI agents of a project. You see the
names of its packages, imports, tools and agents.
First write a report of at most 250 words: which tools look risky and why, and what your files do. Then write the files:
service.yaml (only if the data says has_configuration: false), policies/*.yaml, one contract for each tool in
contracts/tools.yaml, and, only if the data says reads_identities: true, one identity for each agent in agents/agents.yaml.
Agents without an identity are blocked as soon as there is one, so list all of them. service.yaml has these keys and no others:
  server: {host: 127.0.0.1, port: 8000, mode: sidecar}
  policy: {default_action: block}
  secret_detection: {enabled: true}
  pii_protection: {enabled: true, action: redact}
  paths: {identity_files: [agents/*.yaml]}
Tools that pay, send, delete, deploy or
run commands need \`requires_approval: true\` or a rule with \`action: require_approval\`. Use only tool and agent names from the
data. Name parameters in accepts.fields only if the data lists all of them.`;

/** Proposes configuration, policies, contracts and identities for a project. */
export const autoConfigAdvisor: Advisor<AutoConfigRequest> = {
  name: 'auto-config',
  brief: ({ outline, has_configuration, reads_identities }) => ({
    system: buildInstructions(TASK, true),
    user: formatUntrusted('project', { has_configuration, reads_identities, ...sanitizeOutline(outline) }),
  }),
  read: (answer, { outline, has_configuration }) => {
    const { prose, files, problems } = parseAnswer(answer, {
      path: has_configuration ? DOCUMENT_PATH : PROJECT_PATH,
      expects: `${has_configuration ? '' : '`service.yaml`, or '}\`policies/\`, \`contracts/\` or \`agents/\` and a name of lower-case letters, digits, \`-\` and \`_\` with \`.yaml\`${has_configuration ? '; the project has a `service.yaml`, which is not replaced' : ''}`,
      unnamed: 'policies/generated.yaml',
    });
    const nothing = files.length === 0 && problems.length === 0;
    return {
      summary: boundSummary(prose),
      artifacts: files,
      problems: nothing
        ? ['The answer has no file. Each file begins with a line `--- FILE: <path> ---`.']
        : problems,
      metadata: {
        framework_hints: [...outline.frameworks],
        file_count: outline.file_count,
        tool_count: outline.tools.length,
        is_partial: outline.is_partial,
      },
    };
  },
};
