import { matchesName } from '../../core/tags.ts';

/** The part of the configuration that maps model names. */
export interface ModelRoutes {
  readonly providers: readonly { readonly name: string }[];
  readonly models: Readonly<Record<string, readonly { readonly model: string }[]>>;
  readonly fallbacks: readonly { readonly model: string; readonly to: readonly string[] }[];
}

/**
 * Returns a function that lists the models to which a call may go, first choice first. It resolves aliases, removes
 * provider prefixes (`openai/gpt-4o`) and adds fallbacks. Any other name resolves to itself.
 */
export function openModelResolver(settings: ModelRoutes): (model: string | null) => readonly string[] {
  const providers = new Set(settings.providers.map(({ name }) => name));
  const resolveNames = (model: string): readonly string[] => {
    const alias = Object.hasOwn(settings.models, model) ? settings.models[model]! : [];
    if (alias.length > 0) return alias.map((entry) => entry.model);
    const slash = model.indexOf('/');
    return [slash !== -1 && providers.has(model.slice(0, slash)) ? model.slice(slash + 1) : model];
  };
  return (model) => {
    if (model === null) return [];
    const fallback = settings.fallbacks.find((one) => matchesName(one.model, model));
    return [...new Set([model, ...(fallback?.to ?? [])].flatMap(resolveNames))];
  };
}
