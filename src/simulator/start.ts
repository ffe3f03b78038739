import { createAuthority, openAuthority } from './authority/authority.js';
import { startControlApi } from './control/api.js';
import { Simulator, type SimulatorOptions } from './simulator.js';
import { StateFolder } from './state-folder.js';

/** Starts the simulated government: its HTTPS front and its control API. Resolves when both listen. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const host = options.host ?? '127.0.0.1';
  const folder = options.folder === undefined ? null : new StateFolder(options.folder);
  const authority =
    options.authority ??
    (options.folder === undefined ? createAuthority([host]) : openAuthority(options.folder, [host]));
  const simulator = new Simulator(options, authority, folder);
  try {
    await simulator.start(host, (it) => startControlApi(it, options.controlPort ?? 0));
  } catch (error) {
    await simulator.stop();
    throw error;
  }
  return simulator;
}
