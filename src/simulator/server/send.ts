import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceAnswer } from './service.js';

/** Sends an answer, or as much of it as its wire fault allows, and reports how that ended. */
export function send(response: ServerResponse, answer: ServiceAnswer): void {
  let delivered = false;
  response.once('finish', () => {
    delivered = true;
  });
  response.once('close', () => answer.over?.(delivered));

  const { wire } = answer;
  const socket = response.socket;
  if (wire === null) {
    begin(response, answer);
    response.end(answer.body);
    return;
  }
  switch (wire.type) {
    case 'reset':
      socket?.destroy();
      return;
    case 'hang':
      // Without a limit of its own it ends when the client gives up.
      if (wire.ms !== null) setTimeout(() => socket?.destroy(), wire.ms).unref();
      return;
    case 'cut': {
      begin(response, answer);
      const sent = wire.afterBytes ?? Math.floor(answer.body.length / 2);
      response.write(answer.body.subarray(0, sent), () => socket?.destroy());
      return;
    }
    case 'slow':
      begin(response, answer);
      void trickle(response, answer.body, wire.ms);
  }
}

function begin(response: ServerResponse, answer: ServiceAnswer): void {
  response.writeHead(answer.httpStatus, {
    'Content-Type': answer.contentType,
    'Content-Length': answer.body.length,
    'Cache-Control': 'private, max-age=0',
    Server: 'Microsoft-IIS/10.0',
    ...answer.headers,
  });
}

/** Spreads a body over about `ms` milliseconds, in 20 pieces; stops when the client has gone. */
async function trickle(response: ServerResponse, body: Buffer, ms: number): Promise<void> {
  const pieces = 20;
  const size = Math.ceil(body.length / pieces);
  for (let from = 0; from < body.length && !response.destroyed; from += size) {
    response.write(body.subarray(from, from + size));
    await delay(ms / pieces, undefined, { ref: false });
  }
  response.end();
}
