import { existsSync, renameSync, statSync } from 'node:fs';
import { pino } from 'pino';
import { createLogger, type Logger } from '../platform/log.js';

const LARGE = 50 * 1024 * 1024;

/**
 * The log of `malote dev`: everything in a file, errors also to the screen.
 *
 * @param onError told the message of a line of level error or worse
 */
export function openLog(file: string, level: string, onError: (message: string) => void): Logger {
  if (existsSync(file) && statSync(file).size > LARGE) renameSync(file, `${file}.1`);
  const destination = pino.destination({ dest: file, append: true, mkdir: true, sync: true, mode: 0o600 });
  return createLogger({
    level,
    role: 'dev',
    destination: {
      write: (line) => {
        destination.write(line);
        if (/^\{"level":"(error|fatal)"/.test(line)) onError((JSON.parse(line) as { msg?: string }).msg ?? 'an error');
      },
    },
  });
}
