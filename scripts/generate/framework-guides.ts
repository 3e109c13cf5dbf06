/** The texts of the guides of frameworks. One record is one page in `docs/how-to/frameworks`. */

/** One language of a framework. */
export interface FrameworkSide {
  /** The folder in `examples`. */
  readonly example: string;
  /** The packages to install next to `customshouse`. */
  readonly packages: string;
  /** The name for `customshouse setup`. */
  readonly setup: string;
  /** Rows of the table that differ from `COVERAGE`. */
  readonly covers?: Partial<Coverage>;
  readonly streaming: string;
  readonly limits: readonly string[];
}

/** The rows of the table in each guide. */
export interface Coverage {
  readonly prompts: string;
  readonly calls: string;
  readonly results: string;
  readonly answers: string;
  readonly approvals: string;
  readonly messages: string;
}

export interface FrameworkGuide {
  /** The file name of the page. */
  readonly name: string;
  readonly label: string;
  readonly python?: FrameworkSide;
  readonly typescript?: FrameworkSide;
}

/** The behaviour of most adapters. */
export const COVERAGE: Coverage = {
  prompts:
    'Masked before the model reads them, with files of text in them. A blocked one raises `BlockedError`. Images, audio and other files are not read.',
  calls: 'Checked before the tool runs. A blocked tool does not run, and the model reads the reason.',
  results:
    'Masked before the model reads them, as is the error of a tool that fails. Instead of a blocked one the model reads the reason.',
  answers: 'Masked before your program reads them. A blocked one raises `BlockedError`.',
  approvals:
    'The call waits for an approver, 300 seconds by default. Without an approval the tool does not run.',
  messages: 'A message of another agent is a prompt of the agent that reads it, and is checked as one.',
};

const CLAUDE_RESULTS =
  'Masked before the model reads them. The error of a tool that fails cannot be changed: if it would be masked or blocked, the run ends.';
const NO_PROVIDER_TOOLS = 'Tools that run at a provider are not visible to the guard.';
const REFUSED_ARE_NOT_HELD =
  'The conversation and every stream show the arguments of a call as the model wrote them, but none of a refused call that has a secret, personal data or another finding in them.';
const REFUSED_ARE_MASKED =
  'The conversation and every stream hold the arguments of a refused call masked, if an answer could not show them.';
const STREAM_IS_CHECKED = 'Text is released while it arrives, as far as it is checked.';

export const guides: readonly FrameworkGuide[] = [
  {
    name: 'ag2',
    label: 'AG2',
    python: {
      example: 'python-ag2',
      packages: 'ag2',
      setup: 'ag2',
      streaming:
        'Subscribers, observers and the events of `run` show each text of the model when it is whole and checked.',
      limits: [REFUSED_ARE_NOT_HELD, NO_PROVIDER_TOOLS],
    },
  },
  {
    name: 'autogen',
    label: 'AutoGen',
    python: {
      example: 'python-autogen',
      packages: 'autogen-agentchat',
      setup: 'autogen',
      streaming: STREAM_IS_CHECKED,
      limits: [
        'Wrap the model client and the tools of every agent in a team. An agent without them is not guarded.',
        REFUSED_ARE_NOT_HELD,
      ],
    },
  },
  {
    name: 'claude-agent-sdk',
    label: 'Claude Agent SDK',
    python: {
      example: 'python-claude-agent',
      packages: 'claude-agent-sdk',
      setup: 'claude-agent',
      covers: {
        prompts:
          'Checked. `guarded_query` masks them; the hook cannot change a prompt, so it blocks instead.',
        results: CLAUDE_RESULTS,
      },
      streaming:
        'Whole messages are checked, with their reasoning and calls. `guarded_query` leaves partial ones out.',
      limits: [
        'Read the messages of `guarded_query`: hooks alone do not see the answer.',
        'Claude Code keeps the arguments of a refused call in its conversation, which no hook can change.',
      ],
    },
    typescript: {
      example: 'typescript-claude-agent-sdk',
      packages: '@anthropic-ai/claude-agent-sdk',
      setup: 'claude-agent-sdk-ts',
      covers: {
        prompts: 'Checked. A hook cannot change a prompt, so a prompt that would be masked is blocked.',
        results: CLAUDE_RESULTS,
      },
      streaming: 'Whole messages are checked. `guardClaudeMessages` leaves partial ones out.',
      limits: [
        'Read the messages through `guardClaudeMessages`: hooks alone do not see the answer.',
        'The agent program keeps its own conversation, and no hook can change it. The model therefore reads the arguments of its refused call again.',
        'A blocked prompt throws no error: the run ends with a result whose text is `UserPromptSubmit operation blocked by hook:` and the reason.',
      ],
    },
  },
  {
    name: 'crewai',
    label: 'CrewAI',
    python: {
      example: 'python-crewai',
      packages: 'crewai',
      setup: 'crewai',
      covers: {
        prompts: 'Masked before the model reads them. A blocked one ends the run.',
        answers: 'Masked before your program reads them. A blocked one ends the run.',
      },
      streaming:
        '`Crew(stream=True)` and listeners of events show each text of a model when it is whole and checked.',
      limits: [
        '`guard_crews` registers its hooks for all of the process, so call it once.',
        'A model class of your own must call the hooks of CrewAI, as the one in the example does.',
        REFUSED_ARE_NOT_HELD,
      ],
    },
  },
  {
    name: 'google-adk',
    label: 'Google ADK',
    python: {
      example: 'python-google-adk',
      packages: 'google-adk',
      setup: 'google-adk',
      streaming: 'The text and the calls of partial events are held. The whole answer follows, checked.',
      limits: [
        'Code of a `code_executor` is checked as an answer, and not as a call of a tool.',
        'The plug-in belongs to a runner: agents that you run in another way are not guarded.',
        'ADK wraps the error of a blocked prompt or answer: catch its `RuntimeError`, whose `__cause__` is the `BlockedError` with `reason` and `rule`.',
        REFUSED_ARE_NOT_HELD,
        NO_PROVIDER_TOOLS,
      ],
    },
  },
  {
    name: 'langchain',
    label: 'LangChain',
    python: {
      example: 'python-langchain',
      packages: 'langchain',
      setup: 'langchain',
      streaming:
        '`stream`, `astream` and `astream_events` show an answer and its reasoning when they are whole and checked.',
      limits: [
        'One middleware is one session: create one for each conversation.',
        '`astream_events` has no events of the model itself, such as `on_chat_model_stream`: read the answer in the events of chains.',
        'Callbacks and tracers receive checked answers. They receive unchecked answers of a model that later middleware puts in, or that was bound to tools or settings before.',
        REFUSED_ARE_NOT_HELD,
        NO_PROVIDER_TOOLS,
      ],
    },
    typescript: {
      example: 'typescript-langchain',
      packages: 'langchain @langchain/core zod',
      setup: 'langchain-ts',
      streaming: STREAM_IS_CHECKED,
      limits: [
        REFUSED_ARE_MASKED,
        'Make the middleware the last of the list: tokens of a model that later middleware puts in are not checked.',
        'LangChain wraps the error of a blocked prompt or answer: catch its `MiddlewareError`, whose `cause` is the `BlockedError` with `reason` and `rule`.',
        'One guard is one session: create one for each conversation.',
        NO_PROVIDER_TOOLS,
      ],
    },
  },
  {
    name: 'langgraph',
    label: 'LangGraph',
    python: {
      example: 'python-langgraph',
      packages: 'langgraph',
      setup: 'langgraph',
      streaming:
        '`stream` and `astream` show an answer and its reasoning when they are whole and checked, in every mode. Text of a stream writer does not pass the guard.',
      limits: [
        'Callbacks and tracers receive the answers of the models that a node calls before the check.',
        'Only what passes the nodes is checked: put `check_input` before each model, and wrap each node with a model in `model_node`.',
        REFUSED_ARE_NOT_HELD,
      ],
    },
    typescript: {
      example: 'typescript-langgraph',
      packages: '@langchain/langgraph @langchain/core zod',
      setup: 'langgraph-ts',
      streaming: STREAM_IS_CHECKED,
      limits: [
        REFUSED_ARE_MASKED,
        'Guard the model of each node: a model without `guardLangChainModel` is not checked.',
      ],
    },
  },
  {
    name: 'llamaindex',
    label: 'LlamaIndex',
    python: {
      example: 'python-llamaindex',
      packages: 'llama-index-core',
      setup: 'llamaindex',
      streaming:
        'The events of `run_streamed` show each answer, its reasoning and the arguments of its calls when they are whole and checked. Those of `agent.run` do not pass the guard.',
      limits: [
        'A tool that takes the context of the workflow is refused, because a wrapper does not receive it.',
        'The conversation keeps no arguments of a refused call that has a finding in them, except those of a `ReActAgent` or a `CodeActAgent`, which write calls as text.',
        'Events of `run_streamed` have no `raw` and no `additional_kwargs`, and those of the input of an agent are left out.',
      ],
    },
    typescript: {
      example: 'typescript-llamaindex',
      packages: 'llamaindex @llamaindex/workflow zod',
      setup: 'llamaindex-ts',
      covers: {
        prompts: 'Masked before the model reads them. For a blocked one the reason is the answer.',
        answers: 'Masked before your program reads them. For a blocked one the reason is the answer.',
      },
      streaming: STREAM_IS_CHECKED,
      limits: [
        REFUSED_ARE_MASKED,
        "With `on_block: 'raise'` a block is thrown, which ends the process inside a workflow.",
      ],
    },
  },
  {
    name: 'mastra',
    label: 'Mastra',
    typescript: {
      example: 'typescript-mastra',
      packages: '@mastra/core zod',
      setup: 'mastra',
      covers: {
        prompts: 'Masked before the model reads them. A blocked one trips a tripwire with the reason.',
        answers: 'Masked before your program reads them. A blocked one trips a tripwire with the reason.',
      },
      streaming: STREAM_IS_CHECKED,
      limits: [
        REFUSED_ARE_MASKED,
        'It needs `@mastra/core` 1.0 or later.',
        'Agents, workflows and toolsets of MCP that you give an agent are not guarded: guard their own tools.',
        NO_PROVIDER_TOOLS,
      ],
    },
  },
  {
    name: 'mcp-clients',
    label: 'MCP TypeScript SDK',
    typescript: {
      example: 'typescript-mcp',
      packages: '@modelcontextprotocol/sdk zod',
      setup: 'mcp-ts',
      covers: {
        prompts: 'Prompts of a server are checked before your program reads them.',
        calls:
          'Checked before they are sent. A blocked call is not sent, and its result is an error with the reason.',
        results: 'Texts, structured content and resources are masked before your program reads them.',
        answers: 'The client has no model. Check answers with `guard.output`.',
        messages: 'Not part of the protocol.',
      },
      streaming: 'Results arrive whole.',
      limits: [
        'Descriptions of tools are not checked. The [MCP proxy](../guard-mcp-servers.md) pins them.',
        'For clients that you cannot change, use the [MCP proxy](../guard-mcp-servers.md).',
        '`client.experimental` throws, because the streams of its tasks are not guarded.',
      ],
    },
  },
  {
    name: 'openai-agents',
    label: 'OpenAI Agents SDK',
    python: {
      example: 'python-openai-agents',
      packages: 'openai-agents',
      setup: 'openai-agents',
      streaming:
        '`run_streamed` shows each answer, its reasoning and the arguments of its calls when they are whole and checked. `Runner.run_streamed` does not pass the guard.',
      limits: [
        'Hosted tools and MCP servers run elsewhere, so `run` refuses them unless `unguarded` names them.',
        'A structured answer is masked in its JSON. If it no longer has its type, the run fails.',
      ],
    },
    typescript: {
      example: 'typescript-openai-agents',
      packages: '@openai/agents zod',
      setup: 'openai-agents-ts',
      streaming: STREAM_IS_CHECKED,
      limits: [
        REFUSED_ARE_MASKED,
        'Guardrails (`createOpenAIGuardrails`) cannot mask, so they block. Use them if you cannot wrap the model.',
        NO_PROVIDER_TOOLS,
      ],
    },
  },
  {
    name: 'pydantic-ai',
    label: 'Pydantic AI',
    python: {
      example: 'python-pydantic-ai',
      packages: 'pydantic-ai-slim',
      setup: 'pydantic-ai',
      streaming:
        '`run_stream`, `run_stream_events` and event handlers show an answer, its reasoning and the arguments of its calls when they are whole and checked.',
      limits: [REFUSED_ARE_NOT_HELD, NO_PROVIDER_TOOLS],
    },
  },
  {
    name: 'semantic-kernel',
    label: 'Semantic Kernel',
    python: {
      example: 'python-semantic-kernel',
      packages: 'semantic-kernel',
      setup: 'semantic-kernel',
      covers: {
        calls:
          'Checked before the function runs. A blocked one does not run; a model that called it reads the reason.',
      },
      streaming:
        '`invoke_stream` shows an answer when it is whole and checked. If the model is not in the kernel, read it through `guarded_stream`.',
      limits: [
        'Prompts of an agent pass the guard only through `guarded_prompt`.',
        'Answers of an agent whose model is not in the kernel, as those of Azure AI, Assistants and Responses, pass it only through `guarded_answer`.',
        'Semantic Kernel logs a blocked call as an exception.',
        REFUSED_ARE_NOT_HELD,
      ],
    },
  },
  {
    name: 'smolagents',
    label: 'smolagents',
    python: {
      example: 'python-smolagents',
      packages: 'smolagents',
      setup: 'smolagents',
      streaming: '`run` refuses `stream=True`, because the steps of a stream show unchecked text.',
      limits: [
        'Pass managed agents through `guarded_agents`: `run` refuses others.',
        'The code of a `CodeAgent` runs in the executor that you choose. Its calls of guarded tools are checked, and its memory keeps the code.',
        REFUSED_ARE_NOT_HELD,
      ],
    },
  },
  {
    name: 'strands',
    label: 'Strands',
    python: {
      example: 'python-strands',
      packages: 'strands-agents',
      setup: 'strands',
      streaming:
        'A callback handler and `stream_async` show each text of the model, its reasoning and the arguments of its calls when they are whole and checked.',
      limits: ['Agents that are tools of another agent need hooks as well.', REFUSED_ARE_NOT_HELD],
    },
  },
  {
    name: 'vercel-ai',
    label: 'Vercel AI SDK',
    typescript: {
      example: 'typescript-vercel-ai',
      packages: 'ai',
      setup: 'vercel-ai',
      streaming: STREAM_IS_CHECKED,
      limits: [
        REFUSED_ARE_MASKED,
        'Tools without `execute` run elsewhere: their calls are checked only if an answer could not show the arguments, and their results when they come back.',
        'Earlier answers in `messages` are not checked again: keep them on your server.',
      ],
    },
  },
];
