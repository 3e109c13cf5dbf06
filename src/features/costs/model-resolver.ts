import { matchesName } from '../../core/tags.ts';

/** The part of the configuration that says what a model is sent on as. */
export interface ModelRoutes {
  readonly providers: readonly { readonly name: string }[];
  readonly models: Readonly<Record<string, readonly { readonly model: string }[]>>;
  readonly fallbacks: readonly { readonly model: string; readonly to: readonly string[] }[];
}

/**
 * The models that a call may go to, the first choice first: what an alias stands for, the name behind a provider's
 * (`openai/gpt-4o`), and their fallbacks. The name itself where it is none of these.
 */
export function openModelResolver(settings: ModelRoutes): (model: string | null) => readonly string[] {
  const providers = new Set(settings.providers.map(({ name }) => name));
  const behind = (model: string): readonly string[] => {
    const alias = Object.hasOwn(settings.models, model) ? settings.models[model]! : [];
    if (alias.length > 0) return alias.map((entry) => entry.model);
    const slash = model.indexOf('/');
    return [slash !== -1 && providers.has(model.slice(0, slash)) ? model.slice(slash + 1) : model];
  };
  return (model) => {
    if (model === null) return [];
    const fallback = settings.fallbacks.find((one) => matchesName(one.model, model));
    return [...new Set([model, ...(fallback?.to ?? [])].flatMap(behind))];
  };
}
