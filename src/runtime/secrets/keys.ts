export { KEY_CHARACTERS_MAX, KEY_PATTERN } from '../../drivers/secrets/backend.ts';
