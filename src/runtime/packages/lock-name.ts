/** The name of the lock file, which is next to `service.yaml`. */
export const LOCK_FILE = 'skills.lock';
