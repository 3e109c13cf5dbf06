/** The name of the lock file, beside `service.yaml`. */
export const LOCK_FILE = 'skills.lock';
