/** The metric labels of the LLM proxy's checks: request, response, and both directions of a tool call. */
export const LLM_ENDPOINTS = ['llm_request', 'llm_response', 'llm_tool_call', 'llm_tool_result'] as const;
