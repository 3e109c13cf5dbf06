/** The metric labels of the checks of the LLM proxy: what it asks of a model, what comes back, and both sides of a tool. */
export const LLM_ENDPOINTS = ['llm_request', 'llm_response', 'llm_tool_call', 'llm_tool_result'] as const;
