import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** A server program that we started and that must not outlive us. */
export interface Child {
  readonly pid: number;
  /** Resolves when the program has ended, with a short description: "exit code 1", "signal SIGKILL". Never rejects. */
  readonly ended: Promise<string>;
  readonly running: () => boolean;
  /** Asks with each signal in turn, waiting the given milliseconds for the end after each. Does nothing when it has ended. */
  stop(...steps: readonly (readonly [signal: NodeJS.Signals, waitMs: number])[]): Promise<void>;
}

/** A program to start and to look after. */
export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
  /** Takes what the program prints; appended to. */
  readonly logFile: string;
  /** What the program gets when this process dies without stopping it, even by kill -9. */
  readonly signalOnOrphaned: 'INT' | 'TERM' | 'QUIT' | 'KILL';
  /** Removed after the program has ended that way; for tests. */
  readonly removeWhenOrphaned?: string;
}

/**
 * Starts a server program in a process group of its own, so that Ctrl-C in a terminal reaches only us and we stop things in
 * order, and ties its life to ours.
 *
 * @throws Error when the program cannot be started at all (missing, not executable)
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const log = openSync(options.logFile, 'a', 0o600);
  let process: ChildProcess;
  try {
    process = spawn(options.command, options.args, {
      detached: true,
      stdio: ['ignore', log, log],
      env: options.env ?? globalThis.process.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      ...(options.uid === undefined ? {} : { uid: options.uid }),
      ...(options.gid === undefined ? {} : { gid: options.gid }),
    });
    await once(process, 'spawn');
  } finally {
    closeSync(log);
  }
  const pid = process.pid;
  if (pid === undefined) throw new Error(`${options.command} has no process id`);
  process.unref();

  let end: string | null = null;
  const ended = new Promise<string>((resolve) => {
    process.once('exit', (code, signal) => {
      end = signal === null ? `exit code ${code}` : `signal ${signal}`;
      resolve(end);
    });
  });
  const watcher = tieToOurLife(pid, options);
  void ended.then(() => watcher.kill('SIGKILL'));

  return {
    pid,
    ended,
    running: () => end === null,
    stop: async (...steps) => {
      for (const [signal, waitMs] of steps) {
        if (end !== null) return;
        process.kill(signal);
        await within(ended, waitMs);
      }
    },
  };
}

/**
 * A shell that waits for the end of a pipe whose other end only we hold: it closes when we end, however that happens. Works
 * on every Unix, where the kernel's own "signal on parent's death" is Linux only.
 */
function tieToOurLife(pid: number, options: ChildOptions): ChildProcess {
  const script = `
    cat >/dev/null
    kill -s "$1" "$0" 2>/dev/null
    [ -n "$2" ] || exit 0
    n=0; while kill -0 "$0" 2>/dev/null && [ $n -lt 100 ]; do sleep 0.1; n=$((n+1)); done
    rm -rf "$2"`;
  const watcher = spawn('sh', ['-c', script, String(pid), options.signalOnOrphaned, options.removeWhenOrphaned ?? ''], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  watcher.on('error', () => undefined);
  watcher.unref();
  // The pipe must not keep our event loop alive; a Socket can be unref'd, though the type of stdin says only Writable.
  (watcher.stdin as unknown as { unref(): void }).unref();
  return watcher;
}

/** True when the promise settled within the time. */
export async function within(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      promise.then(() => true),
      delay(ms, false, { signal: timer.signal }).catch(() => false),
    ]);
  } finally {
    timer.abort();
  }
}
