/** The product's name, as people read it. */
export const PRODUCT_NAME = 'Customshouse';

/** Its name for programs: package, command, the user's folders, and the source of what it sends. */
export const PACKAGE_NAME = 'customshouse';

/**
 * The earlier name. Texts that are signed, sealed or hashed still begin with it, so that older journals verify and older
 * states open. Hooks, settings and folders under it are found and moved by `setup`, and guarded until then.
 */
export const EARLIER_NAME = 'agent-safety';
