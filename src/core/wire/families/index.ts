import type { ApiFamily } from '../api-family.ts';
import { anthropicFamily } from './anthropic.ts';
import { geminiFamily } from './gemini.ts';
import { openAiFamily } from './openai.ts';

/** The only list of API families, in the order of the documentation. */
export const apiFamilies = [openAiFamily, anthropicFamily, geminiFamily] as const;

/** The name of an API family. */
export type ApiFamilyName = (typeof apiFamilies)[number]['name'];

/** The names of all API families. */
export const API_FAMILY_NAMES = apiFamilies.map(({ name }) => name);

/** Returns the record of a family. */
export function getApiFamily(name: ApiFamilyName): ApiFamily {
  return apiFamilies.find((each) => each.name === name)!;
}
