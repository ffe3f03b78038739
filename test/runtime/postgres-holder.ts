import { startPostgres } from '../../src/runtime/postgres.js';

/** Runs a server on the folder given until a signal comes, and prints its process id. */
const server = await startPostgres({ folder: process.argv[2] ?? '', throwAway: false });
console.log(server.pid);
process.once('SIGTERM', () => void server.stop().then(() => process.exit(0)));
setInterval(() => undefined, 60_000);
