/**
 * The metric label of a check: the name of the requested operation, or of a stage of the LLM proxy. The list of all
 * labels is derived from the operation records in `server/operations.ts`.
 */
export type Endpoint = string;
